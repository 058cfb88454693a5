// The request line's target, taken apart: path and query, percent-decoded once.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace assay::http {

struct request_target {
    std::string path;
    std::vector<std::pair<std::string, std::string>> query;
};

inline constexpr std::size_t max_target_bytes = 4096;
inline constexpr std::size_t max_query_fields = 32;

/// Origin form only ("/path?query"). Refuses bad escapes, NUL and other control bytes, backslashes, "." and ".."
/// segments (decoded too), doubled slashes and invalid UTF-8. '+' in the query is a space.
result<request_target> parse_request_target(std::string_view target);

/// Percent-encodes what is not unreserved (RFC 3986 §2.3).
std::string percent_encode(std::string_view text);

/// True for well-formed UTF-8.
bool is_utf8(std::string_view text);

}  // namespace assay::http
