// /api/v1/receipts: the list with its filters, and the signed files.
#include "http/documents.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"
#include "receipt/digest.hpp"
#include "receipt/envelope.hpp"

namespace assay::http {

http_response list_receipts(api_context& context, const http_request& request) {
    const auto checked = check_query(request, {"machine", "preset", "arm_a", "arm_b", "verdict", "evidence", "since",
                                               "until", "label", "cursor", "limit"});
    if (!checked) return problem(checked.error());
    receipt_filter filter;
    filter.machine = query_text(request, "machine");
    filter.preset = query_text(request, "preset");
    filter.arm_a = query_text(request, "arm_a");
    filter.arm_b = query_text(request, "arm_b");
    filter.verdict = query_text(request, "verdict");
    filter.evidence = query_text(request, "evidence");
    filter.label = query_text(request, "label");
    filter.cursor = query_text(request, "cursor");
    const auto since = query_time(request, "since");
    if (!since) return problem(since.error());
    filter.since = *since;
    const auto until = query_time(request, "until");
    if (!until) return problem(until.error());
    filter.until = *until;
    const auto limit = query_integer(request, "limit", 1, 500, 50);
    if (!limit) return problem(limit.error());
    filter.limit = *limit;
    const auto page = context.store->list_receipts(filter);
    if (!page) return problem(page.error());
    http_response response;
    response.body = receipt_list_document(*page);
    return response;
}

http_response get_receipt(api_context& context, const http_request& request) {
    if (const auto checked = check_query(request, {"view"}); !checked) return problem(checked.error());
    const auto text = request.capture("id");
    const receipt_id id{std::string(text)};
    const auto view = query_text(request, "view").value_or("file");
    if (view != "file" && view != "inner" && view != "summary")
        return problem({error_code::invalid_argument, "There is no view '" + view + "'", "?view",
                        "Known: file (the signed file), inner (the receipt alone), summary"});
    http_response response;
    if (view == "summary") {
        const auto summary = context.store->find_receipt(id);
        if (!summary) return problem(summary.error());
        response.body = receipt_summary_document(*summary);
        return response;
    }
    auto file = context.store->receipt_file(id);
    if (!file) return problem(file.error());
    // A stored receipt never changes, so both views are named by the file's own digest.
    const auto digest = sha256_hex(*file);
    if (view == "inner") {
        auto opened = open_envelope(*file);
        if (!opened) return problem(500, opened.error());
        response.body = std::move(opened->receipt_text);
        response.with("ETag", "\"" + digest + "-inner\"");
        return response;
    }
    response.body = std::move(*file);
    response.with("ETag", "\"" + digest + "\"");
    response.with("Content-Disposition", "inline; filename=\"" + std::string(text) + ".assay.json\"");
    return response;
}

}  // namespace assay::http
