// Media types of served files by their name's ending.
#pragma once

#include <string_view>

namespace assay::http {

/// "text/html; charset=utf-8" for "index.html"; application/octet-stream for what is unknown.
std::string_view media_type_of(std::string_view path);
/// True for types that gzip shortens.
bool is_compressible(std::string_view media_type);

}  // namespace assay::http
