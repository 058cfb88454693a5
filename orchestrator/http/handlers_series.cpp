// Many receipts at once: the curve over sizes, the trend over time.
#include <algorithm>

#include "contract/json_writer.hpp"
#include "http/documents.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"

namespace assay::http {
namespace {

/// A figure that may be drawn: it exists and its receipt is neither damaged nor without a result.
bool has_figure(const receipt_summary& summary) {
    return summary.speedup && summary.verdict != "invalid" && summary.verdict != "failed" &&
           summary.verdict != "refused";
}

std::string point_document(const receipt_summary& summary) {
    json_object point;
    point.add("receipt_id", summary.id)
        .add("created_at", summary.created_at)
        .add("machine_id", summary.machine_id)
        .add("machine_name", summary.machine_name)
        .add("preset", summary.preset)
        .add("arm_a", summary.arm_a)
        .add("arm_b", summary.arm_b)
        .add("verdict", summary.verdict)
        .add("evidence", summary.evidence)
        .add("precision", summary.precision)
        .add("speedup", summary.speedup);
    if (summary.interval_low && summary.interval_high)
        point.raw("interval95",
                  json_array().raw(json_number(*summary.interval_low)).raw(json_number(*summary.interval_high)).text());
    return point.add("a_median_ms", summary.a_median_ms)
        .add("b_median_ms", summary.b_median_ms)
        .add("flops_per_step", summary.flops_per_step)
        .add("label", summary.label)
        .text();
}

}  // namespace

result<void> walk_receipts(run_store& store, receipt_filter filter, int most,
                           const std::function<void(const receipt_summary&)>& visit) {
    filter.limit = std::min(most, 500);
    for (int seen = 0; seen < most;) {
        const auto page = store.list_receipts(filter);
        if (!page) return page.error();
        for (const auto& summary : page->receipts) visit(summary);
        seen += static_cast<int>(page->receipts.size());
        if (!page->next) break;
        filter.cursor = page->next;
    }
    return {};
}

http_response get_curve(api_context& context, const http_request& request) {
    const auto checked = check_query(request, {"machine", "preset", "arm_a", "arm_b", "evidence", "label"});
    if (!checked) return problem(checked.error());
    receipt_filter filter;
    filter.machine = query_text(request, "machine");
    filter.preset = query_text(request, "preset");
    filter.arm_a = query_text(request, "arm_a");
    filter.arm_b = query_text(request, "arm_b");
    filter.evidence = query_text(request, "evidence");
    filter.label = query_text(request, "label");
    json_array points;
    const auto walked = walk_receipts(*context.store, filter, max_walked_receipts, [&](const receipt_summary& summary) {
        if (has_figure(summary)) points.raw(point_document(summary));
    });
    if (!walked) return problem(walked.error());
    http_response response;
    response.body = json_object().raw("points", points.text()).text();
    return response;
}

http_response get_trends(api_context& context, const http_request& request) {
    const auto checked = check_query(request, {"machine", "preset", "arm_a", "arm_b", "since"});
    if (!checked) return problem(checked.error());
    receipt_filter filter;
    filter.machine = query_text(request, "machine");
    filter.preset = query_text(request, "preset");
    for (const auto& [name, value] : {std::pair("machine", filter.machine), std::pair("preset", filter.preset)})
        if (!value)
            return problem({error_code::invalid_argument, std::string("The field '") + name + "' is missing",
                            std::string("?") + name, "A trend is of one machine and one preset."});
    filter.arm_a = query_text(request, "arm_a");
    filter.arm_b = query_text(request, "arm_b");
    const auto since = query_time(request, "since");
    if (!since) return problem(since.error());
    filter.since = *since;
    std::vector<receipt_summary> newest_first;
    const auto walked = walk_receipts(*context.store, filter, max_walked_receipts,
                                      [&](const receipt_summary& summary) { newest_first.push_back(summary); });
    if (!walked) return problem(walked.error());
    std::reverse(newest_first.begin(), newest_first.end());
    json_array points;
    for (const auto& summary : newest_first) points.raw(point_document(summary));
    http_response response;
    response.body = json_object().raw("points", points.text()).text();
    return response;
}

}  // namespace assay::http
