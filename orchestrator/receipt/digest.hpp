// SHA-256 of texts and files, base 64 in its one canonical form, comparison in constant time.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace assay {

using sha256_bytes = std::array<unsigned char, 32>;

/// SHA-256 (FIPS 180-4) of `bytes`.
sha256_bytes sha256(std::string_view bytes);
/// The same as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);
/// SHA-256 of a file's content in hexadecimal, read in blocks; io_error names the path.
result<std::string> sha256_hex_of_file(const std::filesystem::path& path);

/// HMAC-SHA256 (RFC 2104, FIPS 198-1) in hexadecimal.
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes);

std::string to_hex(std::string_view bytes);
/// True for 64 lower-case hexadecimal digits.
bool is_sha256_hex(std::string_view text);

/// Compares without a hint, in the time taken, of where the first difference is. Lengths are not secret.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// RFC 4648 base 64 with padding.
std::string base64(std::string_view bytes);
/// Reads only what base64() writes: no line breaks, full padding, unused bits zero.
result<std::string> decode_base64(std::string_view text);

}  // namespace assay
