#include "analysis/summary.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/sample_statistics.hpp"
#include "analysis/text.hpp"

namespace assay {
namespace {

constexpr std::size_t max_block_rows = 12;
constexpr std::string_view absent = "-";

using table_row = std::array<std::string, 7>;

// Columns are padded by characters, not bytes; all text here is ASCII except what came from outside.
std::string table_text(const std::vector<table_row>& rows) {
    std::array<std::size_t, std::tuple_size_v<table_row>> widths{};
    for (const table_row& row : rows)
        for (std::size_t column = 0; column < row.size(); ++column)
            widths[column] = std::max(widths[column], row[column].size());
    std::string out;
    for (const table_row& row : rows) {
        std::string line = " ";
        for (std::size_t column = 0; column < row.size(); ++column) {
            const std::string padding(widths[column] - row[column].size(), ' ');
            // Names stand left, numbers right.
            line += " " + (column < 2 ? row[column] + padding : padding + row[column]) + " ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

// The middle half of a block's step times, as a fraction of its median.
std::string step_spread_text(const arm_record& block) {
    std::vector<double> times;
    for (const step_sample& step : block.steps) times.push_back(step.wall_ms);
    const auto centre = median(times);
    if (times.size() < 4 || !centre || !(*centre > 0)) return std::string(absent);
    std::sort(times.begin(), times.end());
    const double low = times[times.size() / 4];
    const double high = times[times.size() - 1 - times.size() / 4];
    return percent_text((high - low) / *centre);
}

std::string optional_time(const std::optional<double>& milliseconds) {
    return milliseconds ? milliseconds_text(*milliseconds) : std::string(absent);
}

table_row block_row(const arm_record& block) {
    std::string losses(absent);
    std::string final_loss(absent);
    if (!block.steps.empty()) {
        losses = number_text(block.steps.front().loss, 5);
        final_loss = number_text(block.steps.back().loss, 5);
    }
    return {std::string(1, block.block),
            block.arm,
            std::to_string(block.steps.size()),
            optional_time(block.median_step_ms),
            step_spread_text(block),
            losses,
            final_loss};
}

std::string colour_of(verdict_result verdict) {
    switch (verdict) {
        case verdict_result::verified:
            return "\033[32m";
        case verdict_result::unqualified:
        case verdict_result::inconclusive:
            return "\033[33m";
        default:
            return "\033[31m";
    }
}

std::string workload_text(const receipt& document) {
    const model_shape& shape = document.model.shape;
    std::string out = document.request.preset.value_or("custom size");
    out += ": " + std::to_string(shape.layers) + " layers, width " + std::to_string(shape.d_model) + ", context " +
           std::to_string(shape.ctx) + ", batch " + std::to_string(shape.batch) + ", " + std::to_string(shape.heads) +
           " heads; " + std::to_string(document.model.parameters) + " parameters, " +
           flops_text(document.model.flops_per_step) + " a step";
    return out;
}

std::string adapter_text(const adapter_views& views) {
    if (!views.page) return "the page saw none";
    std::string out = views.page->vendor.empty() ? "(no vendor)" : views.page->vendor;
    if (!views.page->architecture.empty()) out += " " + views.page->architecture;
    if (!views.page->description.empty()) out += ", " + views.page->description;
    if (views.page->is_fallback.value_or(false)) out += ", a fallback adapter";
    return out;
}

std::string heading_lines(const receipt& document) {
    std::string out = "Receipt " + document.id + ", " + document.created_at + ", " +
                      std::string(evidence_name(document.evidence)) + "\n";
    out += "  Work      " + workload_text(document) + "\n";
    if (const auto slice = document.request.slice_steps)
        out += "  Order     the four blocks of a quadruple in turn, " + std::to_string(*slice) +
               (*slice == 1 ? " step" : " steps") + " at a time\n";
    if (document.machine)
        out += "  Machine   " + document.machine->hostname + ", " + document.machine->cpu_model + ", " +
               std::to_string(document.machine->logical_cores) + " cores, " + document.machine->os + " " +
               document.machine->os_version + "\n";
    if (document.browser) out += "  Browser   " + document.browser->product + "\n";
    if (document.adapter) out += "  Adapter   " + adapter_text(*document.adapter) + "\n";
    return out;
}

std::string block_lines(const receipt& document) {
    if (document.arms.empty()) return "  No arm ran.\n";
    std::vector<table_row> rows{{"", "arm", "steps", "median", "spread", "first loss", "last loss"}};
    for (std::size_t i = 0; i < document.arms.size() && i < max_block_rows; ++i)
        rows.push_back(block_row(document.arms[i]));
    std::string out = table_text(rows);
    if (document.arms.size() > max_block_rows)
        out += "  ... and " + std::to_string(document.arms.size() - max_block_rows) + " more blocks\n";
    return out;
}

std::string figure_lines(const receipt& document) {
    const analysis_facts& analysis = document.analysis;
    std::string out = "  Ratio     " + ratio_text(analysis) + "\n";
    if (analysis.a_median_ms && analysis.b_median_ms && document.request.arms.size() == 2)
        out += "            A " + document.request.arms[0] + " " + milliseconds_text(*analysis.a_median_ms) + ", B " +
               document.request.arms[1] + " " + milliseconds_text(*analysis.b_median_ms) + " a step\n";
    if (analysis.repeat_spread_a && analysis.repeat_spread_b)
        out += "  Repeats   of A differ by up to " + percent_text(*analysis.repeat_spread_a) + ", of B by up to " +
               percent_text(*analysis.repeat_spread_b) + "\n";
    if (analysis.max_loss_drift)
        out += "  Drift     the losses of A and B differ by up to " + percent_text(*analysis.max_loss_drift) + "\n";
    return out;
}

}  // namespace

std::string ratio_text(const analysis_facts& analysis) {
    if (!analysis.speedup) return "none";
    const std::string count =
        std::to_string(analysis.quadruples) + (analysis.quadruples == 1 ? " quadruple" : " quadruples");
    const std::string point = number_text(*analysis.speedup, 4) + "x";
    if (analysis.quadruples == 0) return point + ", as stated, without samples";
    if (!analysis.interval95) return point + ", a point without an interval (" + count + ")";
    return point + ", 95 % interval " + number_text(analysis.interval95->first, 4) + " to " +
           number_text(analysis.interval95->second, 4) + " (" + count + ")";
}

std::string summary_text(const receipt& document, bool colour) {
    std::string out = heading_lines(document) + "\n" + block_lines(document) + "\n" + figure_lines(document);
    const std::string verdict(verdict_name(document.verdict.result));
    out += "  Verdict   " + (colour ? colour_of(document.verdict.result) + verdict + "\033[0m" : verdict) + "\n";
    for (const reason& item : document.verdict.reasons) out += "            " + item.code + ": " + item.message + "\n";
    return out;
}

}  // namespace assay
