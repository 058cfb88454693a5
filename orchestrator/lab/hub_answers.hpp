// How the hub's endpoints answer.
#pragma once

#include <string>

#include "core/http_message.hpp"
#include "core/result.hpp"

namespace assay::lab {

http_response json_answer(int status, std::string body);
/// application/problem+json (RFC 9457) with our code, the detail and the field.
http_response problem_answer(const error& cause);

}  // namespace assay::lab
