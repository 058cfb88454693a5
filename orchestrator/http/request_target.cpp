#include "http/request_target.hpp"

#include <optional>

#include "receipt/utf8.hpp"

namespace assay::http {
namespace {

error wrong(std::string message) {
    return error{error_code::invalid_argument, std::move(message)};
}

int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char byte = text[i];
        if (byte == '%') {
            if (i + 2 >= text.size()) return std::nullopt;
            const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            byte = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (byte == '+' && plus_is_space) {
            byte = ' ';
        }
        if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F) return std::nullopt;
        out += byte;
    }
    if (!is_utf8(out)) return std::nullopt;
    return out;
}

bool has_unsafe_segment(std::string_view path) {
    if (path.find('\\') != std::string_view::npos || path.find("//") != std::string_view::npos) return true;
    while (!path.empty()) {
        path.remove_prefix(1);
        const auto segment = path.substr(0, path.find('/'));
        if (segment == "." || segment == "..") return true;
        path.remove_prefix(segment.size());
    }
    return false;
}

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto length = utf8_sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

result<request_target> parse_request_target(std::string_view target) {
    if (target.size() > max_target_bytes)
        return error{error_code::too_large,
                     "The address is longer than " + std::to_string(max_target_bytes) + " bytes"};
    if (target.empty() || target.front() != '/') return wrong("The address must begin with '/'");
    request_target parsed;
    const auto question = target.find('?');
    auto path = percent_decoded(target.substr(0, question), false);
    if (!path || has_unsafe_segment(*path)) return wrong("The address's path is malformed");
    parsed.path = std::move(*path);
    if (question == std::string_view::npos) return parsed;
    std::string_view rest = target.substr(question + 1);
    while (!rest.empty()) {
        const auto end = rest.find('&');
        const auto field = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (field.empty()) continue;
        const auto equals = field.find('=');
        auto name = percent_decoded(field.substr(0, equals), true);
        auto value =
            percent_decoded(equals == std::string_view::npos ? std::string_view() : field.substr(equals + 1), true);
        if (!name || !value) return wrong("The address's query is malformed");
        if (parsed.query.size() == max_query_fields)
            return wrong("The address's query has more than " + std::to_string(max_query_fields) + " fields");
        parsed.query.emplace_back(std::move(*name), std::move(*value));
    }
    return parsed;
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char byte : text) {
        const bool unreserved = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                                (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
                                byte == '~';
        if (unreserved) {
            out += byte;
        } else {
            const auto value = static_cast<unsigned char>(byte);
            out += '%';
            out += digits[value >> 4];
            out += digits[value & 15];
        }
    }
    return out;
}

}  // namespace assay::http
