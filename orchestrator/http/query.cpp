#include "http/query.hpp"

#include <algorithm>
#include <charconv>

#include "core/clock.hpp"

namespace assay::http {
namespace {

constexpr std::size_t max_value_bytes = 500;

error wrong(std::string_view name, std::string message) {
    return error{error_code::invalid_argument, std::move(message), "?" + std::string(name)};
}

}  // namespace

result<void> check_query(const http_request& request, std::initializer_list<std::string_view> known) {
    for (auto field = request.query.begin(); field != request.query.end(); ++field) {
        if (std::find(known.begin(), known.end(), field->first) == known.end()) {
            auto cause = wrong(field->first, "There is no query field '" + field->first + "' here");
            for (const auto name : known) cause.remedy += (cause.remedy.empty() ? "Known: " : ", ") + std::string(name);
            return cause;
        }
        if (field->second.size() > max_value_bytes) return wrong(field->first, "The value is too long");
        if (std::any_of(request.query.begin(), field, [&](const auto& other) { return other.first == field->first; }))
            return wrong(field->first, "The field is given twice");
    }
    return {};
}

std::optional<std::string> query_text(const http_request& request, std::string_view name) {
    const auto value = request.query_value(name);
    if (!value || value->empty()) return std::nullopt;
    return std::string(*value);
}

result<int> query_integer(const http_request& request, std::string_view name, int low, int high, int otherwise) {
    const auto text = query_text(request, name);
    if (!text) return otherwise;
    int value = 0;
    const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (failed != std::errc() || end != text->data() + text->size() || value < low || value > high)
        return wrong(name,
                     "'" + *text + "' is not an integer from " + std::to_string(low) + " to " + std::to_string(high));
    return value;
}

result<std::optional<std::string>> query_time(const http_request& request, std::string_view name) {
    const auto text = query_text(request, name);
    if (!text) return std::optional<std::string>();
    const auto time = parse_utc(*text);
    if (!time) return wrong(name, time.error().message);
    return std::optional<std::string>(format_utc(*time));
}

}  // namespace assay::http
