#include "receipt/utf8.hpp"

#include <algorithm>

namespace assay {

std::size_t utf8_sequence_length(std::string_view text) {
    const auto byte = [text](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    };
    const auto follows = [&byte](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (text.empty()) return 0;
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;   // no overlong forms
        const unsigned high = first == 0xed ? 0x9f : 0xbf;  // no surrogates
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const unsigned low = first == 0xf0 ? 0x90 : 0x80;
        const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

void append_utf8(std::string& out, std::uint32_t code_point) {
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xc0 | (code_point >> 6));
        put(0x80 | (code_point & 0x3f));
    } else if (code_point < 0x10000) {
        put(0xe0 | (code_point >> 12));
        put(0x80 | ((code_point >> 6) & 0x3f));
        put(0x80 | (code_point & 0x3f));
    } else {
        put(0xf0 | (code_point >> 18));
        put(0x80 | ((code_point >> 12) & 0x3f));
        put(0x80 | ((code_point >> 6) & 0x3f));
        put(0x80 | (code_point & 0x3f));
    }
}

bool utf16_less(std::string_view a, std::string_view b) {
    const auto [at_a, at_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (at_b == b.end()) return false;
    if (at_a == a.end()) return true;
    // UTF-8 order is code-point order. UTF-16 differs only where one side needs a surrogate pair (lead byte F0..F4,
    // units D800..DFFF) and the other is U+E000..U+FFFF (lead byte EE, EF): there the pair comes first.
    const auto x = static_cast<unsigned char>(*at_a);
    const auto y = static_cast<unsigned char>(*at_b);
    const bool x_pair = x >= 0xf0, y_pair = y >= 0xf0;
    if (x_pair != y_pair) {
        if (x_pair && y >= 0xee) return true;
        if (y_pair && x >= 0xee) return false;
    }
    return x < y;
}

}  // namespace assay
