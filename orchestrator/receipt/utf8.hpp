// The little of Unicode that canonical JSON needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// Bytes of the well-formed UTF-8 sequence at the start of `text` (1..4; Unicode table 3-7), or 0 when there is none.
std::size_t utf8_sequence_length(std::string_view text);

/// Appends a Unicode scalar value in UTF-8.
void append_utf8(std::string& out, std::uint32_t code_point);

/// Order by UTF-16 code units, the order of RFC 8785 keys. Both sides are well-formed UTF-8.
bool utf16_less(std::string_view a, std::string_view b);

}  // namespace assay
