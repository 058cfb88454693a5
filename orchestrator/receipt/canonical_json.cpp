#include "receipt/canonical_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "receipt/utf8.hpp"

namespace assay {
namespace {

using kind = canonical_value::kind;

class strict_reader {
  public:
    explicit strict_reader(std::string_view text) : text_(text) {}

    result<canonical_value> read_document() {
        canonical_value value;
        skip_space();
        if (!read_value(value, 0)) return failure();
        skip_space();
        if (at_ != text_.size() && !fail("text after the end of the JSON value")) return failure();
        return value;
    }

  private:
    error failure() const {
        return {error_code::corrupt, "not strict JSON: " + what_ + " at byte " + std::to_string(failed_at_)};
    }
    bool fail(std::string_view what) {
        what_ = what;
        failed_at_ = at_;
        return false;
    }
    bool ended() const { return at_ >= text_.size(); }
    char peek() const { return ended() ? '\0' : text_[at_]; }
    bool take(char expected) {
        if (ended() || text_[at_] != expected) return false;
        ++at_;
        return true;
    }
    void skip_space() {
        while (!ended() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    }
    bool read_word(std::string_view word, kind type, canonical_value& out) {
        if (text_.substr(at_, word.size()) != word) return fail("an unknown word");
        at_ += word.size();
        out.type = type;
        out.text = word;
        return true;
    }

    bool read_value(canonical_value& out, std::size_t depth) {
        switch (peek()) {
            case '{':
                return read_object(out, depth + 1);
            case '[':
                return read_array(out, depth + 1);
            case '"':
                out.type = kind::string;
                return read_string(out.text);
            case 't':
                return read_word("true", kind::boolean, out);
            case 'f':
                return read_word("false", kind::boolean, out);
            case 'n':
                return read_word("null", kind::null, out);
            default:
                return read_number(out);
        }
    }

    bool read_array(canonical_value& out, std::size_t depth) {
        if (depth > max_json_depth) return fail("nesting too deep");
        out.type = kind::array;
        take('[');
        skip_space();
        if (take(']')) return true;
        for (;;) {
            skip_space();
            if (!read_value(out.items.emplace_back(), depth)) return false;
            skip_space();
            if (take(']')) return true;
            if (!take(',')) return fail("neither , nor ] in an array");
        }
    }

    bool read_object(canonical_value& out, std::size_t depth) {
        if (depth > max_json_depth) return fail("nesting too deep");
        out.type = kind::object;
        take('{');
        skip_space();
        if (take('}')) return true;
        for (;;) {
            skip_space();
            if (peek() != '"') return fail("no key in an object");
            auto& member = out.members.emplace_back();
            if (!read_string(member.first)) return false;
            skip_space();
            if (!take(':')) return fail("no : after a key");
            skip_space();
            if (!read_value(member.second, depth)) return false;
            skip_space();
            if (take('}')) break;
            if (!take(',')) return fail("neither , nor } in an object");
        }
        std::sort(out.members.begin(), out.members.end(),
                  [](const auto& a, const auto& b) { return utf16_less(a.first, b.first); });
        const auto twin = std::adjacent_find(out.members.begin(), out.members.end(),
                                             [](const auto& a, const auto& b) { return a.first == b.first; });
        if (twin != out.members.end()) return fail("a key that occurs twice");
        return true;
    }

    bool read_hex4(std::uint32_t& out) {
        out = 0;
        for (int digit = 0; digit < 4; ++digit) {
            const char c = peek();
            std::uint32_t value = 0;
            if (c >= '0' && c <= '9')
                value = static_cast<std::uint32_t>(c - '0');
            else if (c >= 'a' && c <= 'f')
                value = static_cast<std::uint32_t>(c - 'a' + 10);
            else if (c >= 'A' && c <= 'F')
                value = static_cast<std::uint32_t>(c - 'A' + 10);
            else
                return fail("a bad \\u escape");
            out = out * 16 + value;
            ++at_;
        }
        return true;
    }

    bool read_escape(std::string& out) {
        const char c = peek();
        ++at_;
        switch (c) {
            case '"':
            case '\\':
            case '/':
                out += c;
                return true;
            case 'b':
                out += '\b';
                return true;
            case 'f':
                out += '\f';
                return true;
            case 'n':
                out += '\n';
                return true;
            case 'r':
                out += '\r';
                return true;
            case 't':
                out += '\t';
                return true;
            case 'u':
                break;
            default:
                return fail("an unknown escape");
        }
        std::uint32_t unit = 0;
        if (!read_hex4(unit)) return false;
        if (unit >= 0xdc00 && unit <= 0xdfff) return fail("a lone surrogate");
        if (unit >= 0xd800 && unit <= 0xdbff) {
            std::uint32_t low = 0;
            if (!take('\\') || !take('u') || !read_hex4(low) || low < 0xdc00 || low > 0xdfff)
                return fail("a lone surrogate");
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
        append_utf8(out, unit);
        return true;
    }

    bool read_string(std::string& out) {
        take('"');
        while (!ended()) {
            const auto c = static_cast<unsigned char>(text_[at_]);
            if (c == '"') {
                ++at_;
                return true;
            }
            if (c == '\\') {
                ++at_;
                if (ended()) break;
                if (!read_escape(out)) return false;
                continue;
            }
            if (c < 0x20) return fail("a control character in a string");
            const std::size_t length = utf8_sequence_length(text_.substr(at_));
            if (length == 0) return fail("bytes that are not UTF-8");
            out.append(text_.substr(at_, length));
            at_ += length;
        }
        return fail("a string without an end");
    }

    bool digits() {
        const auto start = at_;
        while (peek() >= '0' && peek() <= '9') ++at_;
        return at_ > start;
    }
    bool read_number(canonical_value& out) {
        const auto start = at_;
        take('-');
        if (!take('0') && !digits()) return fail("no JSON value");
        if (take('.') && !digits()) return fail("a number without digits after the point");
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            if (!digits()) return fail("a number without an exponent");
        }
        const std::string_view number = text_.substr(start, at_ - start);
        double value = 0;
        const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
        if (parsed.ec == std::errc::result_out_of_range) {
            // Too small rounds to zero as ECMAScript has it; too large has no canonical form.
            value = std::strtod(std::string(number).c_str(), nullptr);
            if (std::isinf(value)) return fail("a number beyond the range of a double");
        } else if (parsed.ec != std::errc{}) {
            return fail("a bad number");
        }
        out.type = kind::number;
        out.text = ecmascript_number(value);
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string what_;
    std::size_t failed_at_ = 0;
};

void write_string(std::string& out, std::string_view content) {
    static constexpr char hex[] = "0123456789abcdef";
    out += '"';
    for (const char c : content) {
        switch (c) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '\b':
                out += "\\b";
                break;
            case '\f':
                out += "\\f";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\t':
                out += "\\t";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out += "\\u00";
                    out += hex[(c >> 4) & 15];
                    out += hex[c & 15];
                } else {
                    out += c;
                }
        }
    }
    out += '"';
}

void write_value(std::string& out, const canonical_value& value) {
    switch (value.type) {
        case kind::null:
            out += "null";
            break;
        case kind::boolean:
        case kind::number:
            out += value.text;
            break;
        case kind::string:
            write_string(out, value.text);
            break;
        case kind::array:
            out += '[';
            for (std::size_t i = 0; i < value.items.size(); ++i) {
                if (i > 0) out += ',';
                write_value(out, value.items[i]);
            }
            out += ']';
            break;
        case kind::object:
            out += '{';
            for (std::size_t i = 0; i < value.members.size(); ++i) {
                if (i > 0) out += ',';
                write_string(out, value.members[i].first);
                out += ':';
                write_value(out, value.members[i].second);
            }
            out += '}';
            break;
    }
}

}  // namespace

canonical_value::canonical_value() = default;
canonical_value::~canonical_value() = default;
canonical_value::canonical_value(const canonical_value&) = default;
canonical_value::canonical_value(canonical_value&&) noexcept = default;
canonical_value& canonical_value::operator=(const canonical_value&) = default;
canonical_value& canonical_value::operator=(canonical_value&&) noexcept = default;

const canonical_value* canonical_value::find(std::string_view name) const {
    for (const auto& [key, value] : members)
        if (key == name) return &value;
    return nullptr;
}

canonical_value canonical_value::of_string(std::string content) {
    canonical_value value;
    value.type = kind::string;
    value.text = std::move(content);
    return value;
}

canonical_value canonical_value::of_object(std::vector<std::pair<std::string, canonical_value>> members) {
    canonical_value value;
    value.type = kind::object;
    value.members = std::move(members);
    std::sort(value.members.begin(), value.members.end(),
              [](const auto& a, const auto& b) { return utf16_less(a.first, b.first); });
    return value;
}

canonical_value canonical_value::of_array(std::vector<canonical_value> items) {
    canonical_value value;
    value.type = kind::array;
    value.items = std::move(items);
    return value;
}

result<canonical_value> parse_strict_json(std::string_view text) {
    return strict_reader(text).read_document();
}

std::string canonical_text(const canonical_value& value) {
    std::string out;
    write_value(out, value);
    return out;
}

result<std::string> canonicalise_json(std::string_view text) {
    auto value = parse_strict_json(text);
    if (!value) return value.error();
    return canonical_text(*value);
}

std::string ecmascript_number(double value) {
    if (value == 0) return "0";
    // The shortest digits that round-trip, as d.ddde±xx; then laid out by ECMA-262, Number::toString.
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::scientific).ptr;
    const std::string_view scientific(buffer, static_cast<std::size_t>(end - buffer));
    const auto mark = scientific.find('e');
    std::string digits(scientific.substr(0, 1));
    if (mark > 2) digits += scientific.substr(2, mark - 2);
    int exponent = 0;
    const char* from = scientific.data() + mark + 1;
    if (*from == '+') ++from;
    std::from_chars(from, end, exponent);

    const int count = static_cast<int>(digits.size());
    const int point = exponent + 1;  // n of the standard: the value is 0.digits times ten to the n
    std::string out = value < 0 ? "-" : "";
    if (count <= point && point <= 21) {
        out += digits + std::string(static_cast<std::size_t>(point - count), '0');
    } else if (point > 0 && point <= 21) {
        out += digits.substr(0, static_cast<std::size_t>(point)) + "." + digits.substr(static_cast<std::size_t>(point));
    } else if (point > -6 && point <= 0) {
        out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
    } else {
        out += digits.substr(0, 1);
        if (count > 1) out += "." + digits.substr(1);
        out += point - 1 < 0 ? "e-" : "e+";
        out += std::to_string(std::abs(point - 1));
    }
    return out;
}

}  // namespace assay
