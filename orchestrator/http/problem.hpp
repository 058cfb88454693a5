// Failures as application/problem+json (RFC 9457), with a JSON pointer to the wrong field.
#pragma once

#include <string_view>

#include "core/http_message.hpp"
#include "core/result.hpp"

namespace assay::http {

/// The status that stands for one of our error codes.
int status_of(error_code code);
/// The standard's phrase for a status: "Not Found".
std::string_view status_phrase(int status);

/// {"type", "title", "status", "detail", "code", "pointer", "remedy"}.
http_response problem(const error& cause);
/// The same under another status than the code's own.
http_response problem(int status, const error& cause);

}  // namespace assay::http
