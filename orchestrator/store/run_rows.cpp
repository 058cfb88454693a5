#include "store/run_rows.hpp"

#include <algorithm>
#include <array>

#include "core/ids.hpp"

namespace assay {
namespace {

constexpr std::array all_states = {run_state::queued, run_state::running,   run_state::done,
                                   run_state::failed, run_state::cancelled, run_state::interrupted};

}  // namespace

run_state run_state_of(std::string_view name) {
    for (const auto state : all_states)
        if (run_state_name(state) == name) return state;
    throw error_exception(
        {error_code::corrupt, "the store holds a run of unknown state \"" + std::string(name) + "\""});
}

std::string join_labels(const std::vector<std::string>& labels) {
    std::string out;
    for (const auto& label : labels) out += (out.empty() ? "" : "\n") + label;
    return out;
}

std::vector<std::string> split_labels(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        out.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

run_row read_run_row(const sql_row& row) {
    run_row out;
    out.id = row.text(0);
    out.state = run_state_of(row.text(1));
    out.phase = row.text(2);
    out.request_text = row.text(3);
    out.label = row.optional_text(4);
    out.created_at = row.text(5);
    out.started_at = row.optional_text(6);
    out.ended_at = row.optional_text(7);
    out.receipt_id = row.optional_text(8);
    out.error_text = row.optional_text(9);
    out.idempotency_key = row.optional_text(10);
    out.machine_id = row.optional_text(11);
    out.schedule_id = row.optional_text(12);
    out.required_labels = split_labels(row.text(13));
    out.fencing_token = row.integer(14);
    out.attempt = static_cast<int>(row.integer(15));
    return out;
}

std::vector<run_row> read_run_rows(const sql_answer& answer) {
    std::vector<run_row> out;
    out.reserve(answer.rows.size());
    for (const auto& row : answer.rows) out.push_back(read_run_row(row));
    return out;
}

std::string cursor_text(const list_position& position) {
    return position.created_at + "~" + position.id;
}

result<list_position> parse_cursor(std::string_view text) {
    const auto mark = text.find('~');
    const bool good = mark != std::string_view::npos && mark > 0 && mark + 1 < text.size() && text.size() < 200 &&
                      text.find('\0') == std::string_view::npos;
    if (!good) return error{error_code::invalid_argument, "not a cursor that an earlier page gave", "cursor"};
    return list_position{std::string(text.substr(0, mark)), std::string(text.substr(mark + 1))};
}

void where_clause::add(std::string_view condition, std::vector<sql_value> values) {
    text_ += text_.empty() ? " WHERE " : " AND ";
    std::size_t next = 0;
    for (const char c : condition) {
        if (c == '?')
            text_ += placeholder(values.at(next++));
        else
            text_ += c;
    }
}

void where_clause::equals(std::string_view column, const std::optional<std::string>& value) {
    if (value) add(std::string(column) + " = ?", {*value});
}

std::string where_clause::placeholder(sql_value value) {
    values_.push_back(std::move(value));
    return "$" + std::to_string(values_.size());
}

}  // namespace assay
