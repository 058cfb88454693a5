#include <algorithm>
#include <array>

#include "analysis/comparability.hpp"
#include "analysis/summary.hpp"
#include "analysis/text.hpp"
#include "contract/json_writer.hpp"

namespace assay {
namespace {

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

std::string time_text(const std::optional<double>& milliseconds) {
    return milliseconds ? milliseconds_text(*milliseconds) : "-";
}

std::string figure_text(const std::optional<compared_ratio>& ratio) {
    if (!ratio) return "none";
    std::string out = number_text(ratio->value, 4);
    if (ratio->interval95)
        out += ", 95 % interval " + number_text(ratio->interval95->first, 4) + " to " +
               number_text(ratio->interval95->second, 4);
    else
        out += ", a point without an interval";
    return out;
}

std::string side_by_side(const receipt& first, const receipt& second) {
    const std::array<std::array<std::string, 3>, 5> rows{{
        {"", "first", "second"},
        {"A median", time_text(first.analysis.a_median_ms), time_text(second.analysis.a_median_ms)},
        {"B median", time_text(first.analysis.b_median_ms), time_text(second.analysis.b_median_ms)},
        {"ratio A/B", ratio_text(first.analysis), ratio_text(second.analysis)},
        {"verdict", std::string(verdict_name(first.verdict.result)), std::string(verdict_name(second.verdict.result))},
    }};
    std::size_t width = 0;
    for (const auto& row : rows) width = std::max(width, row[1].size());
    std::string out;
    for (const auto& row : rows) out += "  " + padded(row[0], 11) + padded(row[1], width + 2) + row[2] + "\n";
    return out;
}

std::string ratio_json(const compared_ratio& ratio) {
    json_object out;
    out.add("value", ratio.value);
    if (ratio.interval95) out.raw("interval95", json_interval(ratio.interval95->first, ratio.interval95->second));
    return out.text();
}

std::string side_json(const receipt& document) {
    return json_object()
        .add("id", document.id)
        .add("created_at", document.created_at)
        .add("evidence", evidence_name(document.evidence))
        .add("verdict", verdict_name(document.verdict.result))
        .add("a_median_ms", document.analysis.a_median_ms)
        .add("b_median_ms", document.analysis.b_median_ms)
        .add("speedup", document.analysis.speedup)
        .add("max_loss_drift", document.analysis.max_loss_drift)
        .text();
}

}  // namespace

std::string comparison_text(const receipt& first, const receipt& second, const comparison& outcome) {
    std::string out = "First   " + first.id + ", " + first.created_at + "\nSecond  " + second.id + ", " +
                      second.created_at + "\n\n" + side_by_side(first, second) + "\n";
    if (!outcome.same_work)
        out += "Not the same work: the numbers must not be compared.\n";
    else if (!outcome.comparable)
        out += "The same work, but not both are measurements that hold: the numbers must not be compared.\n";
    else
        out += "The same work.\n";
    for (const difference& item : outcome.differences)
        out += "  " + padded(std::string(difference_kind_name(item.kind)), 11) + item.field + ": " + item.first +
               " against " + item.second + ". " + item.why + "\n";
    out += "\nSecond over first (above 1: the second is better)\n";
    out += "  ratio A/B  " + figure_text(outcome.speedup_ratio) + "\n";
    out += "  speed of A " + figure_text(outcome.a_ratio) + "\n";
    out += "  speed of B " + figure_text(outcome.b_ratio) + "\n";
    return out;
}

std::string comparison_json(const receipt& first, const receipt& second, const comparison& outcome) {
    json_array differences;
    for (const difference& item : outcome.differences)
        differences.raw(json_object()
                            .add("kind", difference_kind_name(item.kind))
                            .add("field", item.field)
                            .add("first", item.first)
                            .add("second", item.second)
                            .add("why", item.why)
                            .text());
    json_object out;
    out.raw("first", side_json(first)).raw("second", side_json(second));
    out.add("same_work", outcome.same_work).add("comparable", outcome.comparable);
    out.raw("differences", differences.text());
    if (outcome.speedup_ratio) out.raw("ratio", ratio_json(*outcome.speedup_ratio));
    if (outcome.a_ratio) out.raw("a_ratio", ratio_json(*outcome.a_ratio));
    if (outcome.b_ratio) out.raw("b_ratio", ratio_json(*outcome.b_ratio));
    return out.text();
}

}  // namespace assay
