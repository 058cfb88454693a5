#include "http/documents.hpp"

#include <map>

#include "analysis/comparability.hpp"
#include "contract/json_writer.hpp"

namespace assay::http {
namespace {

void add_ratio(json_object& out, std::string_view name, const std::string& interval_name,
               const std::optional<compared_ratio>& ratio) {
    if (!ratio) return;
    out.add(name, ratio->value);
    if (ratio->interval95) out.raw(interval_name, json_interval(ratio->interval95->first, ratio->interval95->second));
}

/// The ratio of a receipt and what it came from, as lists and curves show it.
void add_figure(json_object& out, const receipt_summary& summary) {
    out.add("speedup", summary.speedup);
    if (summary.interval_low && summary.interval_high)
        out.raw("interval95", json_interval(*summary.interval_low, *summary.interval_high));
    out.add("a_median_ms", summary.a_median_ms).add("b_median_ms", summary.b_median_ms);
    out.add("flops_per_step", summary.flops_per_step);
}

/// Whose receipt it is, of what work, and what it is worth.
void add_origin(json_object& out, const receipt_summary& summary) {
    out.add("created_at", summary.created_at)
        .add("machine_id", summary.machine_id)
        .add("machine_name", summary.machine_name)
        .add("preset", summary.preset)
        .add("arm_a", summary.arm_a)
        .add("arm_b", summary.arm_b)
        .add("verdict", summary.verdict)
        .add("evidence", summary.evidence)
        .add("precision", summary.precision)
        .add("label", summary.label);
}

}  // namespace

std::string run_document(const run_row& run) {
    const std::string self = "/api/v1/runs/" + run.id;
    json_object links;
    links.add("self", self).add("events", self + "/events");
    if (run.receipt_id) links.add("receipt", self + "/receipt");
    json_object document;
    document.add("id", run.id).add("state", run_state_name(run.state));
    if (run.state == run_state::running && !run.phase.empty()) document.add("phase", run.phase);
    document.raw("request", run.request_text)
        .add("label", run.label)
        .add("created_at", run.created_at)
        .add("started_at", run.started_at)
        .add("ended_at", run.ended_at)
        .add("receipt_id", run.receipt_id)
        .add("error", run.error_text)
        .add("machine_id", run.machine_id)
        .add("schedule_id", run.schedule_id)
        .add("attempt", run.attempt);
    if (!run.required_labels.empty()) {
        json_array labels;
        for (const auto& label : run.required_labels) labels.add(label);
        document.raw("required_labels", labels.text());
    }
    return document.raw("links", links.text()).text();
}

std::string run_list_document(const run_page& page) {
    json_array runs;
    for (const auto& run : page.runs) runs.raw(run_document(run));
    return json_object().raw("runs", runs.text()).add("next", page.next).text();
}

std::string receipt_summary_document(const receipt_summary& summary) {
    json_object document;
    document.add("id", summary.id).add("run_id", summary.run_id);
    add_origin(document, summary);
    document.add("policy", summary.policy);
    add_figure(document, summary);
    document.add("max_loss_drift", summary.max_loss_drift);
    if (summary.repeat_spread_a || summary.repeat_spread_b)
        document.raw("repeat_spread",
                     json_object().add("a", summary.repeat_spread_a).add("b", summary.repeat_spread_b).text());
    return document.add("browser", summary.browser)
        .add("adapter", summary.adapter)
        .add("first_reason", summary.first_reason)
        .add("file_sha256", summary.file_sha256)
        .add("chain_sequence", summary.chain_sequence)
        .text();
}

std::string receipt_list_document(const receipt_page& page) {
    json_array receipts;
    for (const auto& summary : page.receipts) receipts.raw(receipt_summary_document(summary));
    return json_object().raw("receipts", receipts.text()).add("next", page.next).text();
}

bool has_figure(const receipt_summary& summary) {
    return summary.speedup && summary.verdict != "invalid" && summary.verdict != "failed" &&
           summary.verdict != "refused";
}

std::string point_document(const receipt_summary& summary) {
    json_object point;
    point.add("receipt_id", summary.id);
    add_origin(point, summary);
    add_figure(point, summary);
    return point.text();
}

std::string curve_document(std::span<const receipt_summary> receipts) {
    json_array points;
    for (const auto& summary : receipts)
        if (has_figure(summary)) points.raw(point_document(summary));
    return json_object().raw("points", points.text()).text();
}

std::string machine_list_document(std::span<const receipt_summary> newest_first) {
    struct machine {
        std::string name, last_seen;
        int receipts = 0;
    };
    std::map<std::string, machine> machines;
    for (const auto& summary : newest_first) {
        auto& each = machines[summary.machine_id];
        if (each.receipts++ == 0) {
            each.name = summary.machine_name;
            each.last_seen = summary.created_at;
        }
    }
    json_array list;
    for (const auto& [id, each] : machines)
        list.raw(json_object()
                     .add("id", id)
                     .add("name", each.name)
                     .add("last_seen", each.last_seen)
                     .add("receipts", each.receipts)
                     .text());
    return json_object().raw("machines", list.text()).text();
}

std::string comparison_document(const compared_receipt& first, const compared_receipt& second) {
    const auto outcome = compare(first.document, second.document);
    json_array differences, reasons;
    for (const auto& each : outcome.differences) {
        const bool blocks = each.kind != difference_kind::conditions;
        differences.raw(json_object()
                            .add("kind", difference_kind_name(each.kind))
                            .add("field", each.field)
                            .add("a", each.first)
                            .add("b", each.second)
                            .add("why", each.why)
                            .add("blocks", blocks)
                            .text());
        if (blocks)
            reasons.raw(json_object()
                            .add("code", each.kind == difference_kind::work ? "different-work" : "no-proof")
                            .add("message", each.field + ": " + each.why)
                            .text());
    }
    json_object document;
    document.add("comparable", outcome.comparable)
        .add("same_work", outcome.same_work)
        .raw("reasons", reasons.text())
        .raw("differences", differences.text());
    add_ratio(document, "ratio", "ratio_interval", outcome.speedup_ratio);
    add_ratio(document, "a_ratio", "a_ratio_interval", outcome.a_ratio);
    add_ratio(document, "b_ratio", "b_ratio_interval", outcome.b_ratio);
    return document.raw("a", receipt_summary_document(first.summary))
        .raw("b", receipt_summary_document(second.summary))
        .text();
}

}  // namespace assay::http
