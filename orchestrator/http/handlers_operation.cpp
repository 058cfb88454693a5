// Endpoints for whoever operates the service.
#include "contract/json_writer.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/server_metrics.hpp"

namespace assay::http {

http_response get_health(api_context& context, const http_request&) {
    http_response response;
    response.body = json_object().add("status", "ok").add("version", context.version).text();
    response.with("Cache-Control", "no-store");
    return response;
}

http_response get_readiness(api_context& context, const http_request&) {
    run_filter one;
    one.limit = 1;
    if (const auto page = context.store->list_runs(one); !page) return problem(503, page.error());
    http_response response;
    response.body = json_object().add("status", "ready").text();
    response.with("Cache-Control", "no-store");
    return response;
}

http_response get_metrics(api_context& context, const http_request&) {
    http_response response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.with("Cache-Control", "no-store");
    if (context.metrics) response.body = context.metrics->text(context.connections ? context.connections() : 0);
    response.body +=
        "# HELP assay_runs Runs in the store that wait or run, up to 500 of each.\n# TYPE assay_runs gauge\n";
    for (const auto state : {run_state::queued, run_state::running}) {
        run_filter filter;
        filter.state = state;
        filter.limit = 500;
        const auto page = context.store->list_runs(filter);
        if (!page) continue;
        response.body += "assay_runs{state=\"" + std::string(run_state_name(state)) + "\"} " +
                         std::to_string(page->runs.size()) + "\n";
    }
    receipt_filter newest;
    newest.limit = 1;
    if (const auto page = context.store->list_receipts(newest); page && !page->receipts.empty())
        if (const auto time = parse_utc(page->receipts.front().created_at)) {
            const auto age = std::chrono::duration<double>(context.time->now() - *time).count();
            response.body +=
                "# HELP assay_newest_receipt_age_seconds Time since the newest receipt was made.\n"
                "# TYPE assay_newest_receipt_age_seconds gauge\nassay_newest_receipt_age_seconds " +
                json_number(age) + "\n";
        }
    return response;
}

http_response list_undelivered(api_context& context, const http_request&) {
    json_array list;
    if (context.documents) {
        const auto documents = context.documents->list("undelivered");
        if (!documents) return problem(documents.error());
        for (const auto& [id, text] : *documents) list.raw(text);
    }
    http_response response;
    response.body = json_object().raw("undelivered", list.text()).text();
    return response;
}

}  // namespace assay::http
