// The queue's half of sql_run_store.
#include "store/run_rows.hpp"
#include "store/sql_run_store.hpp"

namespace assay {
namespace {

bool has_ended(run_state state) {
    return state != run_state::queued && state != run_state::running;
}

error no_such_run(const std::string& id) {
    return {error_code::not_found, "there is no run " + id};
}

error wrong_state(const run_row& row, std::string_view wish) {
    return {error_code::conflict,
            "run " + row.id + " is " + std::string(run_state_name(row.state)) + "; it cannot " + std::string(wish)};
}

error not_the_owner(const std::string& id) {
    return {error_code::conflict, "run " + id + " belongs to a newer claim", {}, {}, "stale-fencing-token"};
}

std::optional<run_row> select_run(sql_connection& connection, const std::string& id, std::string_view suffix = {}) {
    const auto answer = connection.execute(
        "SELECT " + std::string(run_columns) + " FROM runs WHERE id = $1" + std::string(suffix), {id});
    if (answer.rows.empty()) return std::nullopt;
    return read_run_row(answer.rows[0]);
}

/// The update of a running run that `token` still owns; the error says whether it is gone, ended or another's.
result<void> update_owned(sql_connection& connection, const run_id& id, std::int64_t token, std::string_view assignment,
                          sql_value value) {
    const auto answer = connection.execute("UPDATE runs SET " + std::string(assignment) +
                                               " = $1 WHERE id = $2 AND fencing_token = $3 AND state = 'running'",
                                           {std::move(value), id.text(), token});
    if (answer.changed == 1) return {};
    const auto row = select_run(connection, id.text());
    if (!row) return no_such_run(id.text());
    if (row->state != run_state::running) return wrong_state(*row, "go on");
    return not_the_owner(id.text());
}

}  // namespace

std::int64_t sql_run_store::now_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time_.now().time_since_epoch()).count();
}

result<run_row> sql_run_store::enqueue(const run_row& row) {
    if (row.id.empty()) return error{error_code::invalid_argument, "a run needs an id", "id"};
    for (const auto& label : row.required_labels)
        if (label.empty() || label.find('\n') != std::string::npos)
            return error{error_code::invalid_argument, "a label is one line of text", "required_labels"};
    const auto same_key = [&](sql_connection& connection) -> std::optional<result<run_row>> {
        if (!row.idempotency_key) return std::nullopt;
        const auto found = connection.execute(
            "SELECT " + std::string(run_columns) + " FROM runs WHERE idempotency_key = $1", {*row.idempotency_key});
        if (found.rows.empty()) return std::nullopt;
        auto present = read_run_row(found.rows[0]);
        if (present.request_text != row.request_text)
            return error{error_code::conflict, "the idempotency key was used for another request, run " + present.id,
                         "Idempotency-Key"};
        return present;
    };
    return guard_.run<run_row>([&](sql_connection& connection) -> result<run_row> {
        try {
            sql_transaction transaction(connection);
            if (auto present = same_key(connection)) return *present;
            const auto waiting =
                connection.execute("SELECT count(*) FROM runs WHERE state = 'queued'").rows[0].integer(0);
            if (waiting >= max_queued_runs)
                return error{error_code::queue_full,
                             std::to_string(waiting) + " runs wait already; no more are taken",
                             {},
                             "Try again when some have run."};
            connection.execute(
                "INSERT INTO runs (id, state, request, label, created_at, idempotency_key, schedule_id, "
                "required_labels, attempt) "
                "VALUES ($1, 'queued', $2, $3, $4, $5, $6, $7, $8)",
                {row.id, row.request_text, sql_optional(row.label),
                 row.created_at.empty() ? now_text() : row.created_at, sql_optional(row.idempotency_key),
                 sql_optional(row.schedule_id), join_labels(row.required_labels), std::int64_t{row.attempt}});
            for (const auto& label : row.required_labels)
                connection.execute("INSERT INTO run_labels (run_id, label) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                                   {row.id, label});
            // Sent at commit to every orchestrator that listens.
            if (connection.dialect() == sql_dialect::postgresql)
                connection.execute("SELECT pg_notify('assay_queue', $1)", {row.id});
            transaction.commit();
        } catch (const sql_failure& failure) {
            // Another orchestrator stored the same key between our look and our insert.
            if (failure.type() != sql_failure::kind::duplicate) throw;
            if (auto present = same_key(connection)) return *present;
            return error{error_code::conflict, "run " + row.id + " exists already"};
        }
        return select_run(connection, row.id).value();
    });
}

result<std::optional<run_row>> sql_run_store::claim(const machine_id& machine, const std::vector<std::string>& labels,
                                                    std::chrono::seconds lease) {
    return guard_.run<std::optional<run_row>>([&](sql_connection& connection) -> result<std::optional<run_row>> {
        std::vector<sql_value> values = {machine.text(), now_text(),
                                         now_ms() + std::chrono::milliseconds(lease).count()};
        std::string unmet = "SELECT 1 FROM run_labels l WHERE l.run_id = r.id";
        for (std::size_t i = 0; i < labels.size(); ++i) {
            values.emplace_back(labels[i]);
            unmet += (i == 0 ? " AND l.label NOT IN ($" : ", $") + std::to_string(values.size());
        }
        if (!labels.empty()) unmet += ")";
        // One statement: PostgreSQL passes over rows that another orchestrator is taking; SQLite has one writer at a
        // time.
        const std::string skip = connection.dialect() == sql_dialect::postgresql ? " FOR UPDATE OF r SKIP LOCKED" : "";
        const auto answer = connection.execute(
            "UPDATE runs SET state = 'running', phase = '', machine_id = $1, started_at = $2, lease_until_ms = $3, "
            "fencing_token = fencing_token + 1 WHERE state = 'queued' AND id = (SELECT r.id FROM runs r WHERE r.state "
            "= 'queued' AND "
            "NOT EXISTS (" +
                unmet + ") ORDER BY r.id LIMIT 1" + skip + ") RETURNING " + std::string(run_columns),
            values);
        if (answer.rows.empty()) return std::optional<run_row>();
        return std::optional(read_run_row(answer.rows[0]));
    });
}

result<run_row> sql_run_store::claim_run(const run_id& id, const machine_id& machine, std::chrono::seconds lease) {
    return guard_.run<run_row>([&](sql_connection& connection) -> result<run_row> {
        const auto answer = connection.execute(
            "UPDATE runs SET state = 'running', phase = '', machine_id = $1, started_at = $2, lease_until_ms = $3, "
            "fencing_token = fencing_token + 1 WHERE state = 'queued' AND id = $4 RETURNING " +
                std::string(run_columns),
            {machine.text(), now_text(), now_ms() + std::chrono::milliseconds(lease).count(), id.text()});
        if (!answer.rows.empty()) return read_run_row(answer.rows[0]);
        const auto row = select_run(connection, id.text());
        if (!row) return no_such_run(id.text());
        return wrong_state(*row, "be taken");
    });
}

result<void> sql_run_store::heartbeat(const run_id& id, std::int64_t fencing_token, std::chrono::seconds lease) {
    return guard_.run<void>([&](sql_connection& connection) {
        return update_owned(connection, id, fencing_token, "lease_until_ms",
                            now_ms() + std::chrono::milliseconds(lease).count());
    });
}

result<void> sql_run_store::set_phase(const run_id& id, std::int64_t fencing_token, std::string_view phase) {
    return guard_.run<void>([&](sql_connection& connection) {
        return update_owned(connection, id, fencing_token, "phase", std::string(phase));
    });
}

result<void> sql_run_store::finish(const run_id& id, std::int64_t fencing_token, run_state state,
                                   const receipt_summary& summary, std::string_view file_bytes) {
    if (!has_ended(state))
        return error{error_code::invalid_argument, "a run does not end as " + std::string(run_state_name(state)),
                     "state"};
    return guard_.run<void>([&](sql_connection& connection) -> result<void> {
        sql_transaction transaction(connection);
        const auto row = select_run(connection, id.text(), row_lock(connection));
        if (!row) return no_such_run(id.text());
        if (row->receipt_id == summary.id) return {};  // delivered before; the answer was lost on its way
        if (row->fencing_token != fencing_token) return not_the_owner(id.text());
        if (row->state != run_state::running) return wrong_state(*row, "take a receipt");
        if (auto stored = insert_receipt(connection, summary, file_bytes); !stored) return stored.error();
        connection.execute(
            "UPDATE runs SET state = $1, receipt_id = $2, ended_at = $3, phase = '', lease_until_ms = 0 WHERE id = $4",
            {std::string(run_state_name(state)), summary.id, now_text(), id.text()});
        transaction.commit();
        return {};
    });
}

result<void> sql_run_store::end_without_receipt(const run_id& id, run_state state, std::string_view error_text) {
    if (!has_ended(state))
        return error{error_code::invalid_argument, "a run does not end as " + std::string(run_state_name(state)),
                     "state"};
    return guard_.run<void>([&](sql_connection& connection) -> result<void> {
        sql_transaction transaction(connection);
        const auto row = select_run(connection, id.text(), row_lock(connection));
        if (!row) return no_such_run(id.text());
        if (row->state == state && !row->receipt_id) return {};
        if (has_ended(row->state)) return wrong_state(*row, "end again");
        connection.execute(
            "UPDATE runs SET state = $1, error = $2, ended_at = $3, phase = '', lease_until_ms = 0 WHERE id = $4",
            {std::string(run_state_name(state)), std::string(error_text), now_text(), id.text()});
        transaction.commit();
        return {};
    });
}

result<run_row> sql_run_store::request_cancel(const run_id& id) {
    return guard_.run<run_row>([&](sql_connection& connection) -> result<run_row> {
        sql_transaction transaction(connection);
        const auto row = select_run(connection, id.text(), row_lock(connection));
        if (!row) return no_such_run(id.text());
        if (row->state == run_state::cancelled) return *row;
        if (has_ended(row->state)) return wrong_state(*row, "be cancelled");
        if (row->state == run_state::queued)
            connection.execute("UPDATE runs SET state = 'cancelled', cancel_requested = 1, ended_at = $1 WHERE id = $2",
                               {now_text(), id.text()});
        else
            connection.execute("UPDATE runs SET cancel_requested = 1 WHERE id = $1", {id.text()});
        auto changed = select_run(connection, id.text()).value();
        transaction.commit();
        return changed;
    });
}

result<bool> sql_run_store::cancel_requested(const run_id& id) {
    return guard_.run<bool>([&](sql_connection& connection) -> result<bool> {
        const auto answer = connection.execute("SELECT cancel_requested FROM runs WHERE id = $1", {id.text()});
        if (answer.rows.empty()) return no_such_run(id.text());
        return answer.rows[0].integer(0) != 0;
    });
}

result<std::vector<run_row>> sql_run_store::running_on(const machine_id& machine) {
    return guard_.run<std::vector<run_row>>([&](sql_connection& connection) -> result<std::vector<run_row>> {
        return read_run_rows(connection.execute(
            "SELECT " + std::string(run_columns) + " FROM runs WHERE state = 'running' AND machine_id = $1 ORDER BY id",
            {machine.text()}));
    });
}

result<std::vector<run_row>> sql_run_store::expired_leases() {
    return guard_.run<std::vector<run_row>>([&](sql_connection& connection) -> result<std::vector<run_row>> {
        return read_run_rows(
            connection.execute("SELECT " + std::string(run_columns) +
                                   " FROM runs WHERE state = 'running' AND lease_until_ms <= $1 ORDER BY id",
                               {now_ms()}));
    });
}

result<run_row> sql_run_store::find_run(const run_id& id) {
    return guard_.run<run_row>([&](sql_connection& connection) -> result<run_row> {
        auto row = select_run(connection, id.text());
        if (!row) return no_such_run(id.text());
        return *row;
    });
}

result<run_page> sql_run_store::list_runs(const run_filter& filter) {
    if (filter.limit < 1 || filter.limit > 500)
        return error{error_code::invalid_argument, "a page has 1 to 500 entries", "limit"};
    where_clause where;
    if (filter.state) where.equals("state", std::string(run_state_name(*filter.state)));
    where.equals("label", filter.label);
    if (filter.cursor) {
        const auto position = parse_cursor(*filter.cursor);
        if (!position) return position.error();
        where.add("(created_at, id) < (?, ?)", {position->created_at, position->id});
    }
    return guard_.run<run_page>([&](sql_connection& connection) -> result<run_page> {
        auto query = where;
        const std::string limit = query.placeholder(std::int64_t{filter.limit} + 1);
        run_page page{
            read_run_rows(connection.execute("SELECT " + std::string(run_columns) + " FROM runs" + query.text() +
                                                 " ORDER BY created_at DESC, id DESC LIMIT " + limit,
                                             query.values())),
            {}};
        if (page.runs.size() > static_cast<std::size_t>(filter.limit)) {
            page.runs.pop_back();
            page.next = cursor_text({page.runs.back().created_at, page.runs.back().id});
        }
        return page;
    });
}

}  // namespace assay
