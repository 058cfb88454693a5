// The API's handlers, by resource. Each takes a whole request and answers; failures become problems.
#pragma once

#include <functional>

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

// handlers_catalogue.cpp
http_response list_presets(api_context& context, const http_request& request);
http_response list_policies(api_context& context, const http_request& request);
http_response get_policy(api_context& context, const http_request& request);
http_response list_machines(api_context& context, const http_request& request);

// handlers_series.cpp
http_response get_curve(api_context& context, const http_request& request);
http_response get_trends(api_context& context, const http_request& request);

/// Series and the list of machines look at so many of the newest receipts that match, and no further.
inline constexpr int max_walked_receipts = 5000;
/// Visits receipts newest first, page by page.
result<void> walk_receipts(run_store& store, receipt_filter filter, int most,
                           const std::function<void(const receipt_summary&)>& visit);

// handlers_compare.cpp
http_response get_comparison(api_context& context, const http_request& request);

// handlers_schedules.cpp
http_response list_schedules(api_context& context, const http_request& request);
http_response create_schedule(api_context& context, const http_request& request);
http_response get_schedule(api_context& context, const http_request& request);
http_response delete_schedule(api_context& context, const http_request& request);
http_response pause_schedule(api_context& context, const http_request& request);
http_response resume_schedule(api_context& context, const http_request& request);
http_response run_schedule(api_context& context, const http_request& request);

// handlers_operation.cpp
http_response get_health(api_context& context, const http_request& request);
http_response get_readiness(api_context& context, const http_request& request);
http_response get_metrics(api_context& context, const http_request& request);
http_response list_undelivered(api_context& context, const http_request& request);

}  // namespace assay::http
