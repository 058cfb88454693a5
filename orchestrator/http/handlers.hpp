// The API's handlers, by resource. Each takes a whole request and answers; failures become problems.
#pragma once

#include "core/http_message.hpp"
#include "http/api.hpp"

namespace assay::http {

// handlers_runs.cpp
http_response create_run(api_context& context, const http_request& request);
http_response list_runs(api_context& context, const http_request& request);
http_response get_run(api_context& context, const http_request& request);
http_response cancel_run(api_context& context, const http_request& request);
http_response get_run_receipt(api_context& context, const http_request& request);
http_response get_run_events(api_context& context, const http_request& request);

// handlers_receipts.cpp
http_response list_receipts(api_context& context, const http_request& request);
http_response get_receipt(api_context& context, const http_request& request);

// handlers_operation.cpp
http_response get_health(api_context& context, const http_request& request);

}  // namespace assay::http
