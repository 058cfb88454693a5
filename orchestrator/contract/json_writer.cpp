#include "contract/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace assay {
namespace {

/// Length of the valid UTF-8 sequence at the front of `text`, 0 where there is none (RFC 3629, table 3-7 of Unicode).
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if (!continues(1) || !continues(2)) return 0;
        if (lead == 0xE0 && byte(1) < 0xA0) return 0;
        if (lead == 0xED && byte(1) > 0x9F) return 0;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if (!continues(1) || !continues(2) || !continues(3)) return 0;
        if (lead == 0xF0 && byte(1) < 0x90) return 0;
        if (lead == 0xF4 && byte(1) > 0x8F) return 0;
        return 4;
    }
    return 0;
}

}  // namespace

std::string json_string(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out;
    out.reserve(text.size() + 2);
    out += '"';
    while (!text.empty()) {
        const auto first = static_cast<unsigned char>(text.front());
        std::size_t length = 1;
        if (first == '"') {
            out += "\\\"";
        } else if (first == '\\') {
            out += "\\\\";
        } else if (first == '\n') {
            out += "\\n";
        } else if (first == '\t') {
            out += "\\t";
        } else if (first == '\r') {
            out += "\\r";
        } else if (first < 0x20 || first == 0x7F) {
            out += "\\u00";
            out += hex[first >> 4];
            out += hex[first & 15];
        } else {
            length = utf8_length(text);
            if (length == 0) {
                out += "\xEF\xBF\xBD";
                length = 1;
            } else {
                out += text.substr(0, length);
            }
        }
        text.remove_prefix(length);
    }
    out += '"';
    return out;
}

std::string json_number(double value) {
    if (!std::isfinite(value)) return "null";
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return std::string(text.data(), end);
}

json_object& json_object::raw(std::string_view name, std::string_view json) {
    if (text_.size() > 1) text_ += ',';
    text_ += '"';
    text_ += name;
    text_ += "\":";
    text_ += json;
    return *this;
}

json_array& json_array::raw(std::string_view json) {
    if (text_.size() > 1) text_ += ',';
    text_ += json;
    return *this;
}

}  // namespace assay
