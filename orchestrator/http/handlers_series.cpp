// Many receipts at once: the curve over sizes, the trend over time.
#include <algorithm>
#include <map>
#include <span>

#include "analysis/trend.hpp"
#include "contract/json_writer.hpp"
#include "http/documents.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"

namespace assay::http {
namespace {

/// The changes of one figure over receipts of one pair of arms, oldest first.
void add_changes(const std::vector<const receipt_summary*>& series, std::string_view name,
                 std::optional<double> receipt_summary::*figure, json_array& out) {
    std::vector<const receipt_summary*> kept;
    std::vector<double> values;
    for (const auto* summary : series) {
        const auto& value = summary->*figure;
        if (!has_figure(*summary) || !value || !(*value > 0)) continue;
        kept.push_back(summary);
        values.push_back(*value);
    }
    const std::size_t skipped = values.size() > max_trend_values ? values.size() - max_trend_values : 0;
    for (const auto& change : find_changes(std::span(values).subspan(skipped))) {
        const auto& first = *kept[skipped + change.first];
        out.raw(json_object()
                    .add("series", name)
                    .add("receipt_id", first.id)
                    .add("created_at", first.created_at)
                    .add("arm_a", first.arm_a)
                    .add("arm_b", first.arm_b)
                    .add("size", change.ratio - 1)
                    .raw("interval", json_array()
                                         .raw(json_number(change.interval95.first - 1))
                                         .raw(json_number(change.interval95.second - 1))
                                         .text())
                    .add("chance", change.chance)
                    .text());
    }
}

/// Changes are looked for within one pair of arms: figures of different arms are no series.
std::string changes_document(const std::vector<receipt_summary>& oldest_first) {
    std::map<std::pair<std::string, std::string>, std::vector<const receipt_summary*>> by_arms;
    for (const auto& summary : oldest_first) by_arms[{summary.arm_a, summary.arm_b}].push_back(&summary);
    json_array changes;
    for (const auto& [arms, series] : by_arms) {
        add_changes(series, "speedup", &receipt_summary::speedup, changes);
        add_changes(series, "a_median_ms", &receipt_summary::a_median_ms, changes);
        add_changes(series, "b_median_ms", &receipt_summary::b_median_ms, changes);
    }
    return changes.text();
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
    std::vector<receipt_summary> found;
    const auto walked = walk_receipts(*context.store, filter, max_walked_receipts,
                                      [&](const receipt_summary& summary) { found.push_back(summary); });
    if (!walked) return problem(walked.error());
    http_response response;
    response.body = curve_document(found);
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
    response.body = json_object().raw("points", points.text()).raw("changes", changes_document(newest_first)).text();
    return response;
}

}  // namespace assay::http
