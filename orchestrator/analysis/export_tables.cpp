#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/export.hpp"
#include "analysis/text.hpp"
#include "contract/json_writer.hpp"

namespace assay {
namespace {

using cell = std::variant<std::monostate, std::string, double, std::int64_t>;
using row = std::vector<std::pair<std::string_view, cell>>;

template <class T>
cell optional_cell(const std::optional<T>& value) {
    if (!value) return {};
    if constexpr (std::is_same_v<T, int>)
        return static_cast<std::int64_t>(*value);
    else
        return *value;
}

cell text_cell(std::string_view text) {
    return std::string(text);
}
cell count_cell(std::int64_t count) {
    return count;
}

void add_step_rows(const receipt& document, std::vector<row>& out) {
    for (std::size_t order = 0; order < document.arms.size(); ++order) {
        const arm_record& arm = document.arms[order];
        for (const auto& [phase, samples] : {std::pair{"warmup", &arm.warmup}, std::pair{"measure", &arm.steps}})
            for (std::size_t i = 0; i < samples->size(); ++i)
                out.push_back({{"receipt", document.id},
                               {"order", count_cell(static_cast<std::int64_t>(order) + 1)},
                               {"arm", arm.arm},
                               {"block", std::string(1, arm.block)},
                               {"quadruple", count_cell(arm.quadruple)},
                               {"position", count_cell(arm.position)},
                               {"phase", text_cell(phase)},
                               {"step", count_cell(static_cast<std::int64_t>(i) + 1)},
                               {"wall_ms", (*samples)[i].wall_ms},
                               {"loss", (*samples)[i].loss},
                               {"gpu_ms", optional_cell((*samples)[i].gpu_ms)}});
    }
}

void add_arm_rows(const receipt& document, std::vector<row>& out) {
    for (std::size_t order = 0; order < document.arms.size(); ++order) {
        const arm_record& arm = document.arms[order];
        out.push_back({{"receipt", document.id},
                       {"order", count_cell(static_cast<std::int64_t>(order) + 1)},
                       {"arm", arm.arm},
                       {"block", std::string(1, arm.block)},
                       {"quadruple", count_cell(arm.quadruple)},
                       {"position", count_cell(arm.position)},
                       {"threads", optional_cell(arm.threads)},
                       {"steps", count_cell(static_cast<std::int64_t>(arm.steps.size()))},
                       {"median_step_ms", optional_cell(arm.median_step_ms)},
                       {"final_loss", optional_cell(arm.final_loss)},
                       {"cold_start_ms", optional_cell(arm.cold_start_ms)},
                       {"pipelined_step_ms", optional_cell(arm.pipelined_step_ms)},
                       {"dispatches_per_step", optional_cell(arm.dispatches_per_step)},
                       {"errors", count_cell(static_cast<std::int64_t>(arm.errors.size()))}});
    }
}

void add_receipt_row(const receipt& document, std::vector<row>& out) {
    const analysis_facts& analysis = document.analysis;
    const bool has_arms = document.request.arms.size() == 2;
    const auto bound = [&](bool low) -> cell {
        if (!analysis.interval95) return {};
        return low ? analysis.interval95->first : analysis.interval95->second;
    };
    out.push_back({{"receipt", document.id},
                   {"created_at", document.created_at},
                   {"evidence", text_cell(evidence_name(document.evidence))},
                   {"machine_id", document.machine ? cell(document.machine->machine_id) : cell()},
                   {"machine", document.machine ? cell(document.machine->hostname) : cell()},
                   {"browser", document.browser ? cell(document.browser->product) : cell()},
                   {"preset", optional_cell(document.request.preset)},
                   {"flops_per_step", document.model.flops_per_step},
                   {"arm_a", has_arms ? cell(document.request.arms[0]) : cell()},
                   {"arm_b", has_arms ? cell(document.request.arms[1]) : cell()},
                   {"steps", count_cell(document.request.steps)},
                   {"quadruples", count_cell(analysis.quadruples)},
                   {"a_median_ms", optional_cell(analysis.a_median_ms)},
                   {"b_median_ms", optional_cell(analysis.b_median_ms)},
                   {"speedup", optional_cell(analysis.speedup)},
                   {"interval95_low", bound(true)},
                   {"interval95_high", bound(false)},
                   {"repeat_spread_a", optional_cell(analysis.repeat_spread_a)},
                   {"repeat_spread_b", optional_cell(analysis.repeat_spread_b)},
                   {"max_loss_drift", optional_cell(analysis.max_loss_drift)},
                   {"verdict", text_cell(verdict_name(document.verdict.result))},
                   {"precision", optional_cell(document.verdict.precision)},
                   {"policy", document.request.policy}});
}

std::vector<row> rows_of(std::span<const receipt> receipts, export_table table) {
    std::vector<row> out;
    for (const receipt& document : receipts) {
        if (table == export_table::steps) add_step_rows(document, out);
        if (table == export_table::arms) add_arm_rows(document, out);
        if (table == export_table::receipts) add_receipt_row(document, out);
    }
    return out;
}

// The column names also where there is no row: from a receipt with one block of one step.
row header_of(export_table table) {
    receipt document;
    arm_record arm;
    arm.steps.push_back({});
    document.arms.push_back(arm);
    return rows_of(std::span(&document, 1), table).front();
}

std::string csv_field(const cell& value) {
    if (const auto* number = std::get_if<double>(&value)) return exact_text(*number);
    if (const auto* count = std::get_if<std::int64_t>(&value)) return std::to_string(*count);
    const auto* given = std::get_if<std::string>(&value);
    if (!given) return "";
    std::string text = *given;
    if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos)
        text.insert(text.begin(), '\'');
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

}  // namespace

std::string export_csv(std::span<const receipt> receipts, export_table table) {
    std::string out;
    for (const auto& [name, value] : header_of(table)) out += (out.empty() ? "" : ",") + std::string(name);
    out += "\r\n";
    for (const row& fields : rows_of(receipts, table)) {
        bool first = true;
        for (const auto& [name, value] : fields) {
            if (!first) out += ',';
            out += csv_field(value);
            first = false;
        }
        out += "\r\n";
    }
    return out;
}

std::string export_json_lines(std::span<const receipt> receipts, export_table table) {
    std::string out;
    for (const row& fields : rows_of(receipts, table)) {
        json_object object;
        for (const auto& [name, value] : fields) {
            if (const auto* text = std::get_if<std::string>(&value)) object.add(name, *text);
            if (const auto* number = std::get_if<double>(&value)) object.add(name, *number);
            if (const auto* count = std::get_if<std::int64_t>(&value)) object.add(name, *count);
        }
        out += object.text() + "\n";
    }
    return out;
}

}  // namespace assay
