#include "store/retention.hpp"

#include "store/open_store.hpp"

namespace assay {
namespace {

constexpr std::int64_t rows_a_transaction = 200;

std::string days_before(utc_time now, int days) {
    return format_utc(now - std::chrono::hours(24) * days);
}

/// Removes one batch of receipts; answers their ids.
std::vector<std::string> remove_receipts(sql_connection& connection, const std::string& before) {
    sql_transaction transaction(connection);
    const auto old = connection.execute(
        "SELECT id FROM receipts WHERE created_at < $1 AND id NOT IN (SELECT MAX(id) FROM receipts GROUP BY machine_id) "
        "ORDER BY created_at, id LIMIT $2",
        {before, rows_a_transaction});
    std::vector<std::string> ids;
    for (const auto& row : old.rows) {
        ids.push_back(row.text(0));
        connection.execute("DELETE FROM receipts WHERE id = $1", {ids.back()});  // its file goes with it
    }
    transaction.commit();
    return ids;
}

std::int64_t remove_runs(sql_connection& connection, const std::string& before) {
    sql_transaction transaction(connection);
    const auto done = connection.execute(
        "DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE created_at < $1 AND state NOT IN ('queued', 'running') "
        "ORDER BY created_at, id LIMIT $2)",
        {before, rows_a_transaction});
    transaction.commit();
    return done.changed;
}

}  // namespace

result<retention_report> apply_retention(std::string_view store_url, const retention_rules& rules, const clock& time,
                                         const std::function<bool()>& stop) {
    auto connection = open_sql(store_url, time);
    if (!connection) return connection.error();
    retention_report report;
    const auto stopped = [&] { return stop && stop(); };
    try {
        if (rules.receipts_days) {
            const auto before = days_before(time.now(), *rules.receipts_days);
            while (!stopped()) {
                const auto ids = remove_receipts(**connection, before);
                if (ids.empty()) break;
                report.receipts.insert(report.receipts.end(), ids.begin(), ids.end());
            }
        }
        if (rules.runs_days) {
            const auto before = days_before(time.now(), *rules.runs_days);
            while (!stopped()) {
                const auto removed = remove_runs(**connection, before);
                if (removed == 0) break;
                report.runs += removed;
            }
        }
        const bool removed_any = !report.receipts.empty() || report.runs > 0;
        if (removed_any && !stopped() && (*connection)->dialect() == sql_dialect::sqlite) {
            (*connection)->execute_script("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
            report.vacuumed = true;
        }
    } catch (const error_exception& failure) {
        return failure.cause();
    }
    return report;
}

}  // namespace assay
