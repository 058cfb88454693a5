#include "store/retention.hpp"

#include "store/open_store.hpp"

namespace assay {
namespace {

constexpr std::int64_t rows_a_transaction = 200;

std::string days_before(utc_time now, int days) {
    return format_utc(now - std::chrono::hours(24) * days);
}

/// A rule for one batch: everything of `schedules`, or everything of others where `of_them` is false.
struct batch_rule {
    std::string before;
    std::vector<std::string> schedules;
    bool of_them = false;
};

std::vector<sql_value> parameters_of(const batch_rule& rule) {
    std::vector<sql_value> out{rule.before, rows_a_transaction};
    out.insert(out.end(), rule.schedules.begin(), rule.schedules.end());
    return out;
}

/// " AND runs.schedule_id IN ($3, $4)" or the opposite; a run of no schedule is of the others.
std::string which_runs(const batch_rule& rule) {
    if (rule.schedules.empty()) return {};
    std::string list;
    for (std::size_t i = 0; i < rule.schedules.size(); ++i) list += (i == 0 ? "$" : ", $") + std::to_string(i + 3);
    return rule.of_them ? " AND runs.schedule_id IN (" + list + ")"
                        : " AND (runs.schedule_id IS NULL OR runs.schedule_id NOT IN (" + list + "))";
}

/// Receipts whose run is not stored belong to no schedule.
std::string which_receipts(const batch_rule& rule) {
    if (rule.schedules.empty()) return {};
    batch_rule theirs = rule;
    theirs.of_them = true;
    return std::string(rule.of_them ? " AND EXISTS" : " AND NOT EXISTS") +
           " (SELECT 1 FROM runs WHERE runs.id = receipts.run_id" + which_runs(theirs) + ")";
}

/// Removes one batch of receipts; answers their ids.
std::vector<std::string> remove_receipts(sql_connection& connection, const batch_rule& rule) {
    sql_transaction transaction(connection);
    const auto old = connection.execute(
        "SELECT id FROM receipts WHERE created_at < $1 AND id NOT IN (SELECT MAX(id) FROM receipts GROUP BY "
        "machine_id)" +
            which_receipts(rule) + " ORDER BY created_at, id LIMIT $2",
        parameters_of(rule));
    std::vector<std::string> ids;
    for (const auto& row : old.rows) {
        ids.push_back(row.text(0));
        connection.execute("DELETE FROM receipts WHERE id = $1", {ids.back()});  // its file goes with it
    }
    transaction.commit();
    return ids;
}

std::int64_t remove_runs(sql_connection& connection, const batch_rule& rule) {
    sql_transaction transaction(connection);
    const auto done = connection.execute(
        "DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE created_at < $1 AND state NOT IN ('queued', "
        "'running')" +
            which_runs(rule) + " ORDER BY created_at, id LIMIT $2)",
        parameters_of(rule));
    transaction.commit();
    return done.changed;
}

/// Batches of receipts, or of runs, until there are no more or `stop` says so.
void remove_all_receipts(sql_connection& connection, const batch_rule& rule, const std::function<bool()>& stop,
                         retention_report& report) {
    while (!stop()) {
        const auto ids = remove_receipts(connection, rule);
        if (ids.empty()) return;
        report.receipts.insert(report.receipts.end(), ids.begin(), ids.end());
    }
}

void remove_all_runs(sql_connection& connection, const batch_rule& rule, const std::function<bool()>& stop,
                     retention_report& report) {
    while (!stop()) {
        const auto removed = remove_runs(connection, rule);
        if (removed == 0) return;
        report.runs += removed;
    }
}

void remove_old(sql_connection& connection, const retention_rules& rules, utc_time now,
                const std::function<bool()>& stop, retention_report& report) {
    std::vector<std::string> schedules;
    for (const auto& rule : rules.schedules) {
        schedules.push_back(rule.schedule_id);
        const batch_rule batch{days_before(now, rule.days), {rule.schedule_id}, true};
        remove_all_receipts(connection, batch, stop, report);
        remove_all_runs(connection, batch, stop, report);
    }
    if (rules.receipts_days)
        remove_all_receipts(connection, {days_before(now, *rules.receipts_days), schedules, false}, stop, report);
    if (rules.runs_days)
        remove_all_runs(connection, {days_before(now, *rules.runs_days), schedules, false}, stop, report);
}

}  // namespace

result<retention_report> apply_retention(std::string_view store_url, const retention_rules& rules, const clock& time,
                                         const std::function<bool()>& stop) {
    auto connection = open_sql(store_url, time);
    if (!connection) return connection.error();
    retention_report report;
    const auto stopped = [&] { return stop && stop(); };
    try {
        remove_old(**connection, rules, time.now(), stopped, report);
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
