// Reading and writing JSON at the edge. Only .cpp files include this: nlohmann::json is slow to compile.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.hpp"

namespace assay {

using json = nlohmann::json;

/// Thrown inside a parser and caught where the parser was entered: never crosses the room's border.
struct json_failure {
    error cause;
};

/// How a document is read.
struct json_rules {
    error_code code = error_code::invalid_argument;  ///< of every failure
    bool allow_unknown = false;                      ///< drop unknown keys instead of refusing them
};

/// Where in the document a value stands. A chain of stack objects, so that the pointer's text is made on failure only.
class json_context {
  public:
    explicit json_context(const json_rules& rules) : rules_(rules) {}
    json_context(const json_context& parent, std::string_view key)
        : rules_(parent.rules_), parent_(&parent), key_(key) {}
    json_context(const json_context& parent, std::size_t index)
        : rules_(parent.rules_), parent_(&parent), index_(index) {}

    const json_rules& rules() const { return rules_; }
    /// The JSON pointer (RFC 6901) of this value.
    std::string pointer() const;
    [[noreturn]] void fail(std::string message) const;

  private:
    const json_rules& rules_;
    const json_context* parent_ = nullptr;
    std::string_view key_;
    std::optional<std::size_t> index_;
};

/// The largest integer that every JSON reader keeps exactly.
inline constexpr std::uint64_t max_exact_integer = std::uint64_t{1} << 53;

/// Parses text; a duplicate key, a bad token, a number out of range, bytes after the end, invalid UTF-8 and nesting
/// deeper than 32 are failures.
json parse_json(std::string_view text, const json_context& at);
/// Where a parser is entered: `read(value, at, out)` fills a T from the whole document; a failure of either is the
/// result.
template <class T, class Read>
result<T> read_document(std::string_view text, const json_rules& rules, Read read) {
    const json_context at(rules);
    try {
        const json document = parse_json(text, at);
        T out;
        read(document, at, out);
        return out;
    } catch (const json_failure& failure) {
        return failure.cause;
    }
}
/// Compact text; throws std::logic_error on a number that is not finite. Invalid UTF-8 becomes U+FFFD.
std::string dump_json(const json& value);

std::uint64_t read_unsigned(const json& value, const json_context& at, std::uint64_t low, std::uint64_t high);
int read_integer(const json& value, const json_context& at, int low, int high);

void read_json(const json& value, const json_context& at, std::string& out);
void read_json(const json& value, const json_context& at, double& out);
void read_json(const json& value, const json_context& at, bool& out);
void read_json(const json& value, const json_context& at, int& out);
void read_json(const json& value, const json_context& at, std::uint32_t& out);
void read_json(const json& value, const json_context& at, std::uint64_t& out);
void read_json(const json& value, const json_context& at, std::variant<std::string, double, bool>& out);

template <class T>
void read_json(const json& value, const json_context& at, std::vector<T>& out) {
    if (!value.is_array()) at.fail("must be a list");
    out.clear();
    out.reserve(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) read_json(value[i], json_context(at, i), out.emplace_back());
}

template <class T>
void read_json(const json& value, const json_context& at, std::map<std::string, T>& out) {
    if (!value.is_object()) at.fail("must be an object");
    out.clear();
    for (const auto& [key, item] : value.items()) read_json(item, json_context(at, std::string_view(key)), out[key]);
}

/// One JSON object being read. Every key asked for counts as known; finish() refuses the others.
class object_reader {
  public:
    object_reader(const json& value, const json_context& at) : value_(value), at_(at) {
        if (!value.is_object()) at.fail("must be an object");
    }
    const json_context& at() const { return at_; }

    /// The value of `key`, or null when it is absent.
    const json* find(std::string_view key) {
        known_.insert(key);
        const auto found = value_.find(key);
        return found == value_.end() ? nullptr : &*found;
    }
    const json& get(std::string_view key) {
        if (const json* found = find(key)) return *found;
        json_context(at_, key).fail("is missing");
    }
    template <class T>
    void required(std::string_view key, T& out) {
        const json& item = get(key);
        read_json(item, json_context(at_, key), out);
    }
    template <class T>
    void optional(std::string_view key, std::optional<T>& out) {
        if (const json* found = find(key)) read_json(*found, json_context(at_, key), out.emplace());
    }
    /// Keeps `out` as it is when the key is absent.
    template <class T>
    void defaulted(std::string_view key, T& out) {
        if (const json* found = find(key)) read_json(*found, json_context(at_, key), out);
    }
    void integer(std::string_view key, int& out, int low, int high) {
        const json& item = get(key);
        out = read_integer(item, json_context(at_, key), low, high);
    }
    void defaulted_integer(std::string_view key, int& out, int low, int high) {
        if (const json* found = find(key)) out = read_integer(*found, json_context(at_, key), low, high);
    }
    void optional_integer(std::string_view key, std::optional<int>& out, int low, int high) {
        if (const json* found = find(key)) out = read_integer(*found, json_context(at_, key), low, high);
    }
    void finish() const;

  private:
    const json& value_;
    const json_context& at_;
    std::set<std::string_view> known_;
};

/// Sets `key` only when there is a value: what was not measured is absent.
template <class T>
void put(json& object, const char* key, const std::optional<T>& value) {
    if (value) object[key] = *value;
}
/// Sets `key` only when the list or map or text is not empty.
template <class T>
void put_unless_empty(json& object, const char* key, const T& value) {
    if (!value.empty()) object[key] = value;
}

/// 64 hexadecimal digits in lower case.
bool is_sha256_text(std::string_view text);
std::string read_sha256(const json& value, const json_context& at);

json variant_map_json(const std::map<std::string, std::variant<std::string, double, bool>>& values);

}  // namespace assay
