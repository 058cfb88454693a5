// gzip (RFC 1952) for served files and larger JSON answers.
#pragma once

#include <string>
#include <string_view>

namespace assay::http {

/// `bytes` as one gzip member; `level` 1 (fast) to 9 (small).
std::string gzip(std::string_view bytes, int level);
/// True where an Accept-Encoding header allows gzip (RFC 9110 §12.5.3; q=0 forbids).
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace assay::http
