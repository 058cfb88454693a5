#include "contract/json_edge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace assay {
namespace {

constexpr int max_depth = 32;

void append_escaped(std::string& out, std::string_view key) {
    for (char c : key) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
}

void check_finite(const json& value) {
    if (value.is_number_float() && !std::isfinite(value.get<double>()))
        throw std::logic_error("a number that is not finite was about to be written as JSON");
    if (value.is_structured())
        for (const json& item : value) check_finite(item);
}

}  // namespace

std::string json_context::pointer() const {
    if (!parent_) return "";
    std::string out = parent_->pointer() + "/";
    if (index_)
        out += std::to_string(*index_);
    else
        append_escaped(out, key_);
    return out;
}

void json_context::fail(std::string message) const {
    throw json_failure{error{rules_.code, std::move(message), pointer()}};
}

json parse_json(std::string_view text, const json_context& at) {
    std::vector<std::set<std::string>> open_keys;
    int depth = 0;
    const json::parser_callback_t watch = [&](int, json::parse_event_t event, json& parsed) {
        switch (event) {
            case json::parse_event_t::object_start:
                open_keys.emplace_back();
                [[fallthrough]];
            case json::parse_event_t::array_start:
                if (++depth > max_depth) at.fail("is nested deeper than " + std::to_string(max_depth) + " levels");
                break;
            case json::parse_event_t::object_end:
                open_keys.pop_back();
                [[fallthrough]];
            case json::parse_event_t::array_end:
                --depth;
                break;
            case json::parse_event_t::key:
                if (!open_keys.back().insert(parsed.get<std::string>()).second)
                    at.fail("holds the key \"" + parsed.get<std::string>() + "\" twice in one object");
                break;
            case json::parse_event_t::value:
                break;
        }
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (const json::exception& failure) {
        at.fail(std::string("is not JSON: ") + failure.what());
    }
}

std::string dump_json(const json& value) {
    check_finite(value);
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::uint64_t read_unsigned(const json& value, const json_context& at, std::uint64_t low, std::uint64_t high) {
    const auto refuse = [&] {
        at.fail("must be a whole number between " + std::to_string(low) + " and " + std::to_string(high));
    };
    std::uint64_t number = 0;
    if (value.is_number_unsigned()) {
        number = value.get<std::uint64_t>();
    } else if (value.is_number_float()) {
        // 3.0 is a whole number too, in JSON as in JSON Schema.
        const double real = value.get<double>();
        if (real < 0 || real > static_cast<double>(max_exact_integer) || real != std::floor(real)) refuse();
        number = static_cast<std::uint64_t>(real);
    } else {
        refuse();
    }
    if (number < low || number > high) refuse();
    return number;
}

int read_integer(const json& value, const json_context& at, int low, int high) {
    const double real = value.is_number() ? value.get<double>() : 0.5;
    if (real != std::floor(real) || real < low || real > high)
        at.fail("must be a whole number between " + std::to_string(low) + " and " + std::to_string(high));
    return static_cast<int>(real);
}

void read_json(const json& value, const json_context& at, std::string& out) {
    if (!value.is_string()) at.fail("must be a text");
    out = value.get<std::string>();
}
void read_json(const json& value, const json_context& at, double& out) {
    if (!value.is_number()) at.fail("must be a number");
    out = value.get<double>();
    if (!std::isfinite(out)) at.fail("must be finite");
}
void read_json(const json& value, const json_context& at, bool& out) {
    if (!value.is_boolean()) at.fail("must be true or false");
    out = value.get<bool>();
}
void read_json(const json& value, const json_context& at, int& out) {
    out = read_integer(value, at, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
}
void read_json(const json& value, const json_context& at, std::uint32_t& out) {
    out = static_cast<std::uint32_t>(read_unsigned(value, at, 0, std::numeric_limits<std::uint32_t>::max()));
}
void read_json(const json& value, const json_context& at, std::uint64_t& out) {
    out = read_unsigned(value, at, 0, max_exact_integer);
}
void read_json(const json& value, const json_context& at, std::variant<std::string, double, bool>& out) {
    if (value.is_string())
        out = value.get<std::string>();
    else if (value.is_boolean())
        out = value.get<bool>();
    else if (value.is_number())
        out = value.get<double>();
    else
        at.fail("must be a text, a number, true or false");
}

void object_reader::finish() const {
    if (at_.rules().allow_unknown) return;
    for (const auto& [key, item] : value_.items()) {
        if (known_.contains(std::string_view(key))) continue;
        std::string names;
        for (std::string_view name : known_) names += (names.empty() ? "" : ", ") + std::string(name);
        json_context(at_, std::string_view(key)).fail("is not a known key; known here are " + names);
    }
}

bool is_sha256_text(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(),
                                            [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string read_sha256(const json& value, const json_context& at) {
    std::string text;
    read_json(value, at, text);
    if (!is_sha256_text(text)) at.fail("must be a SHA-256 digest: 64 hexadecimal digits in lower case");
    return text;
}

json variant_map_json(const std::map<std::string, std::variant<std::string, double, bool>>& values) {
    json out = json::object();
    for (const auto& [key, value] : values) std::visit([&, &name = key](const auto& item) { out[name] = item; }, value);
    return out;
}

}  // namespace assay
