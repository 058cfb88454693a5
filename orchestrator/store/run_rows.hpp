// Rows of the table `runs` and their struct.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run/ports.hpp"
#include "store/sql_connection.hpp"

namespace assay {

/// The columns that read_run_row expects, in its order.
inline constexpr std::string_view run_columns =
    "id, state, phase, request, label, created_at, started_at, ended_at, receipt_id, error, idempotency_key, "
    "machine_id, schedule_id, required_labels, fencing_token, attempt";

run_row read_run_row(const sql_row& row);
std::vector<run_row> read_run_rows(const sql_answer& answer);
run_state run_state_of(std::string_view name);
/// Labels as one text and back, one a line.
std::string join_labels(const std::vector<std::string>& labels);

/// Adds a receipt and its file inside the caller's transaction; the same one again changes nothing.
result<void> insert_receipt(sql_connection& connection, const receipt_summary& summary, std::string_view file_bytes);
std::vector<std::string> split_labels(std::string_view text);

/// A place in a list ordered by time and id, as an opaque text.
struct list_position {
    std::string created_at, id;
};
std::string cursor_text(const list_position& position);
/// invalid_argument with field "cursor" for text that cursor_text did not make.
result<list_position> parse_cursor(std::string_view text);

/// Builds "WHERE a = $1 AND b = $2 ..." with its parameters.
class where_clause {
  public:
    /// Adds `condition`, whose "?" become the numbers of `values` in order.
    void add(std::string_view condition, std::vector<sql_value> values);
    void equals(std::string_view column, const std::optional<std::string>& value);
    /// The next parameter's placeholder, for LIMIT.
    std::string placeholder(sql_value value);
    const std::string& text() const { return text_; }
    const std::vector<sql_value>& values() const { return values_; }

  private:
    std::string text_;
    std::vector<sql_value> values_;
};

}  // namespace assay
