// JSON text written field by field, for documents that are lists of plain facts: no tree in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
/// The shortest text that reads back as `value`; "null" for what is not finite, which JSON cannot hold.
std::string json_number(double value);

/// One JSON object, compact. An absent optional leaves its field out. Names are our own and need no escaping.
class json_object {
  public:
    json_object& add(std::string_view name, std::string_view value) { return raw(name, json_string(value)); }
    json_object& add(std::string_view name, const std::string& value) { return add(name, std::string_view(value)); }
    json_object& add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
    json_object& add(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
    json_object& add(std::string_view name, int value) { return raw(name, std::to_string(value)); }
    json_object& add(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
    json_object& add(std::string_view name, std::uint64_t value) { return raw(name, std::to_string(value)); }
    json_object& add(std::string_view name, double value) { return raw(name, json_number(value)); }
    template <class T>
    json_object& add(std::string_view name, const std::optional<T>& value) {
        return value ? add(name, *value) : *this;
    }
    /// `json` is JSON text already.
    json_object& raw(std::string_view name, std::string_view json);
    std::string text() const { return text_ + "}"; }

  private:
    std::string text_ = "{";
};

/// One JSON array of ready JSON texts.
class json_array {
  public:
    json_array& raw(std::string_view json);
    json_array& add(std::string_view value) { return raw(json_string(value)); }
    std::string text() const { return text_ + "]"; }

  private:
    std::string text_ = "[";
};

/// An interval as JSON: [low,high].
inline std::string json_interval(double low, double high) {
    return json_array().raw(json_number(low)).raw(json_number(high)).text();
}

}  // namespace assay
