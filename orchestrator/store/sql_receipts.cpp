// The receipts' half of sql_run_store.
#include "receipt/digest.hpp"
#include "store/run_rows.hpp"
#include "store/sql_run_store.hpp"

namespace assay {
namespace {

constexpr std::string_view receipt_columns =
    "id, run_id, machine_id, machine_name, created_at, preset, arm_a, arm_b, verdict, evidence, policy, speedup, "
    "interval_low, interval_high, a_median_ms, b_median_ms, max_loss_drift, flops_per_step, repeat_spread_a, "
    "repeat_spread_b, label, precision_rule, browser, adapter, first_reason, file_sha256, chain_sequence";

receipt_summary read_summary(const sql_row& row) {
    receipt_summary out;
    std::size_t column = 0;
    for (auto* text : {&out.id, &out.run_id, &out.machine_id, &out.machine_name, &out.created_at, &out.preset,
                       &out.arm_a, &out.arm_b, &out.verdict, &out.evidence, &out.policy})
        *text = row.text(column++);
    for (auto* number : {&out.speedup, &out.interval_low, &out.interval_high, &out.a_median_ms, &out.b_median_ms,
                         &out.max_loss_drift, &out.flops_per_step, &out.repeat_spread_a, &out.repeat_spread_b})
        *number = row.optional_real(column++);
    for (auto* text : {&out.label, &out.precision, &out.browser, &out.adapter, &out.first_reason})
        *text = row.optional_text(column++);
    out.file_sha256 = row.text(column++);
    out.chain_sequence = row.integer(column);
    return out;
}

std::vector<sql_value> summary_values(const receipt_summary& s) {
    return {s.id,
            s.run_id,
            s.machine_id,
            s.machine_name,
            s.created_at,
            s.preset,
            s.arm_a,
            s.arm_b,
            s.verdict,
            s.evidence,
            s.policy,
            sql_optional(s.speedup),
            sql_optional(s.interval_low),
            sql_optional(s.interval_high),
            sql_optional(s.a_median_ms),
            sql_optional(s.b_median_ms),
            sql_optional(s.max_loss_drift),
            sql_optional(s.flops_per_step),
            sql_optional(s.repeat_spread_a),
            sql_optional(s.repeat_spread_b),
            sql_optional(s.label),
            sql_optional(s.precision),
            sql_optional(s.browser),
            sql_optional(s.adapter),
            sql_optional(s.first_reason),
            s.file_sha256,
            s.chain_sequence};
}

error no_such_receipt(const receipt_id& id) {
    return {error_code::not_found, "there is no receipt " + id.text()};
}

bool looks_like_machine_id(std::string_view text) {
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

result<void> insert_receipt(sql_connection& connection, const receipt_summary& summary, std::string_view file_bytes) {
    if (summary.id.empty()) return error{error_code::invalid_argument, "a receipt needs an id", "id"};
    if (summary.file_sha256 != sha256_hex(file_bytes))
        return error{error_code::corrupt,
                     "the file of receipt " + summary.id + " does not have the digest given for it", "file_sha256"};
    const auto present = connection.execute("SELECT file_sha256 FROM receipts WHERE id = $1", {summary.id});
    if (!present.rows.empty()) {
        if (present.rows[0].text(0) == summary.file_sha256) return {};
        return error{error_code::conflict, "another receipt has the id " + summary.id};
    }
    const auto values = summary_values(summary);
    std::string places;
    for (std::size_t i = 1; i <= values.size(); ++i) places += (i == 1 ? "$" : ", $") + std::to_string(i);
    connection.execute("INSERT INTO receipts (" + std::string(receipt_columns) + ") VALUES (" + places + ")", values);
    connection.execute("INSERT INTO receipt_files (receipt_id, bytes) VALUES ($1, $2)",
                       {summary.id, std::string(file_bytes)});
    return {};
}

result<void> sql_run_store::add_receipt(const receipt_summary& summary, std::string_view file_bytes) {
    return guard_.run<void>([&](sql_connection& connection) -> result<void> {
        try {
            sql_transaction transaction(connection);
            if (auto stored = insert_receipt(connection, summary, file_bytes); !stored) return stored;
            transaction.commit();
            return {};
        } catch (const sql_failure& failure) {
            if (failure.type() != sql_failure::kind::duplicate) throw;
        }
        // Another orchestrator stored it between our look and our insert: look again.
        return insert_receipt(connection, summary, file_bytes);
    });
}

result<std::string> sql_run_store::receipt_file(const receipt_id& id) {
    return guard_.run<std::string>([&](sql_connection& connection) -> result<std::string> {
        const auto answer = connection.execute(
            "SELECT f.bytes, r.file_sha256 FROM receipt_files f JOIN receipts r ON r.id = f.receipt_id WHERE "
            "f.receipt_id = $1",
            {id.text()});
        if (answer.rows.empty()) return no_such_receipt(id);
        auto bytes = answer.rows[0].text(0);
        if (sha256_hex(bytes) != answer.rows[0].text(1))
            return error{error_code::corrupt, "the stored file of receipt " + id.text() + " is damaged"};
        return bytes;
    });
}

result<receipt_summary> sql_run_store::find_receipt(const receipt_id& id) {
    return guard_.run<receipt_summary>([&](sql_connection& connection) -> result<receipt_summary> {
        const auto answer =
            connection.execute("SELECT " + std::string(receipt_columns) + " FROM receipts WHERE id = $1", {id.text()});
        if (answer.rows.empty()) return no_such_receipt(id);
        return read_summary(answer.rows[0]);
    });
}

result<receipt_page> sql_run_store::list_receipts(const receipt_filter& filter) {
    if (filter.limit < 1 || filter.limit > 500)
        return error{error_code::invalid_argument, "a page has 1 to 500 entries", "limit"};
    where_clause where;
    if (filter.machine)
        where.equals(looks_like_machine_id(*filter.machine) ? "machine_id" : "machine_name", filter.machine);
    where.equals("preset", filter.preset);
    where.equals("arm_a", filter.arm_a);
    where.equals("arm_b", filter.arm_b);
    where.equals("verdict", filter.verdict);
    where.equals("evidence", filter.evidence);
    where.equals("label", filter.label);
    if (filter.since) where.add("created_at >= ?", {*filter.since});
    if (filter.until) where.add("created_at < ?", {*filter.until});
    if (filter.cursor) {
        const auto position = parse_cursor(*filter.cursor);
        if (!position) return position.error();
        where.add("(created_at, id) < (?, ?)", {position->created_at, position->id});
    }
    return guard_.run<receipt_page>([&](sql_connection& connection) -> result<receipt_page> {
        auto query = where;
        const std::string limit = query.placeholder(std::int64_t{filter.limit} + 1);
        const auto answer = connection.execute("SELECT " + std::string(receipt_columns) + " FROM receipts" +
                                                   query.text() + " ORDER BY created_at DESC, id DESC LIMIT " + limit,
                                               query.values());
        receipt_page page;
        for (const auto& row : answer.rows) page.receipts.push_back(read_summary(row));
        if (page.receipts.size() > static_cast<std::size_t>(filter.limit)) {
            page.receipts.pop_back();
            page.next = cursor_text({page.receipts.back().created_at, page.receipts.back().id});
        }
        return page;
    });
}

result<std::optional<chain_head>> sql_run_store::chain_head_of(const machine_id& machine) {
    return guard_.run<std::optional<chain_head>>([&](sql_connection& connection) -> result<std::optional<chain_head>> {
        const auto answer = connection.execute(
            "SELECT file_sha256, chain_sequence FROM receipts WHERE machine_id = $1 ORDER BY chain_sequence DESC LIMIT "
            "1",
            {machine.text()});
        if (answer.rows.empty()) return std::optional<chain_head>();
        return std::optional(chain_head{answer.rows[0].text(0), static_cast<std::uint64_t>(answer.rows[0].integer(1))});
    });
}

}  // namespace assay
