// Machines and lost runs: one half of sql_lab_store.
#include "receipt/digest.hpp"
#include "receipt/trust.hpp"
#include "store/run_rows.hpp"
#include "store/sql_lab_store.hpp"

namespace assay {
namespace {

/// How far last_seen may lag behind: idle machines ask several times a second, and each write costs the disk a flush.
constexpr auto last_seen_step = std::chrono::seconds(5);

constexpr std::string_view machine_columns =
    "id, name, public_key, labels, facts, state, reason, failed_checks, first_seen, last_seen, maintenance_until";

machine_row read_machine(const sql_row& row) {
    machine_row out;
    out.id = row.text(0);
    out.name = row.text(1);
    out.public_key = row.text(2);
    out.labels = split_labels(row.text(3));
    out.facts_text = row.text(4);
    out.state = machine_state_of_name(row.text(5)).value_or(machine_state::pending);
    out.reason = row.text(6);
    out.failed_checks = static_cast<int>(row.integer(7));
    out.first_seen = row.text(8);
    out.last_seen = row.text(9);
    out.maintenance_until = row.optional_text(10);
    return out;
}

result<machine_row> select_machine(sql_connection& connection, const std::string& id, std::string_view suffix) {
    const auto answer = connection.execute(
        "SELECT " + std::string(machine_columns) + " FROM machines WHERE id = $1" + std::string(suffix), {id});
    if (answer.rows.empty()) return error{error_code::not_found, "there is no machine " + id + "; it registers first"};
    return read_machine(answer.rows[0]);
}

result<machine_row> lock_machine(sql_connection& connection, const std::string& id) {
    return select_machine(connection, id, row_lock(connection));
}

void write_state(sql_connection& connection, const machine_row& machine) {
    connection.execute(
        "UPDATE machines SET state = $1, reason = $2, failed_checks = $3, maintenance_until = $4 WHERE id = $5",
        {std::string(machine_state_name(machine.state)), machine.reason, std::int64_t{machine.failed_checks},
         sql_optional(machine.maintenance_until), machine.id});
}

result<public_key> key_of(const std::string& text) {
    const auto bytes = decode_base64(text);
    if (!bytes) return bytes.error();
    return public_key::from_bytes(*bytes);
}

/// Whether each of the certificates is good and they lead from one key to the other.
result<void> check_rotation(const std::string& known, const std::string& wanted,
                            const std::vector<std::string>& certificates) {
    const auto known_key = key_of(known), wanted_key = key_of(wanted);
    trust_store trust;
    if (known_key) trust.add_public_key("known", *known_key);
    for (const auto& certificate : certificates)
        if (auto added = trust.add_rotation(certificate); !added) return added;
    if (known_key && wanted_key && trust.trusts(wanted_key->id())) return {};
    return error{error_code::forbidden, "no certificate signed by the known key leads to it"};
}

}  // namespace

std::int64_t sql_lab_store::now_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time_.now().time_since_epoch()).count();
}

result<machine_row> sql_lab_store::register_machine(const machine_row& machine, bool trust_at_sight,
                                                    const std::vector<std::string>& rotations) {
    return guard_.run<machine_row>([&](sql_connection& connection) -> result<machine_row> {
        sql_transaction transaction(connection);
        const auto count =
            connection.execute("SELECT count(*) FROM machines WHERE id <> $1", {machine.id}).rows[0].integer(0);
        if (count >= static_cast<std::int64_t>(max_machines))
            return error{error_code::queue_full,
                         "the hub knows " + std::to_string(count) + " machines and takes no more"};
        const auto state = trust_at_sight ? machine_state::active : machine_state::pending;
        connection.execute(
            "INSERT INTO machines (id, name, public_key, labels, facts, state, reason, first_seen, last_seen) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT (id) DO NOTHING",
            {machine.id, machine.name, machine.public_key, join_labels(machine.labels), machine.facts_text,
             std::string(machine_state_name(state)),
             std::string(trust_at_sight ? "trusted at first sight" : "waits for approval"), now_text()});
        const auto known = lock_machine(connection, machine.id);
        if (!known) return known.error();
        if (known->public_key != machine.public_key)
            if (auto rotated = check_rotation(known->public_key, machine.public_key, rotations); !rotated)
                return error{error_code::forbidden,
                             "machine " + machine.id + " is known with another key: " + rotated.error().message,
                             "public_key", "Was its home replaced? An administrator can remove the machine."};
        connection.execute(
            "UPDATE machines SET name = $1, labels = $2, facts = $3, last_seen = $4, public_key = $5 WHERE id = $6",
            {machine.name, join_labels(machine.labels), machine.facts_text, now_text(), machine.public_key,
             machine.id});
        auto renewed = lock_machine(connection, machine.id);
        transaction.commit();
        return renewed;
    });
}

result<machine_row> sql_lab_store::see_machine(const machine_id& id) {
    return guard_.run<machine_row>([&](sql_connection& connection) -> result<machine_row> {
        const auto seen = select_machine(connection, id.text(), {});
        if (!seen) return seen.error();
        const auto now = now_text();
        const auto ends =
            seen->state == machine_state::maintenance && seen->maintenance_until && *seen->maintenance_until <= now;
        if (!ends && seen->last_seen <= now && seen->last_seen > format_utc(time_.now() - last_seen_step)) return *seen;
        sql_transaction transaction(connection);
        auto machine = lock_machine(connection, id.text());
        if (!machine) return machine.error();
        machine->last_seen = now;
        connection.execute("UPDATE machines SET last_seen = $1 WHERE id = $2", {machine->last_seen, machine->id});
        const bool over = machine->state == machine_state::maintenance && machine->maintenance_until &&
                          *machine->maintenance_until <= machine->last_seen;
        if (over) {
            machine->state = machine_state::active;
            machine->reason = "maintenance ended";
            machine->maintenance_until.reset();
            write_state(connection, *machine);
        }
        transaction.commit();
        return *machine;
    });
}

result<std::vector<machine_row>> sql_lab_store::list_machines() {
    return guard_.run<std::vector<machine_row>>([&](sql_connection& connection) -> result<std::vector<machine_row>> {
        std::vector<machine_row> out;
        for (const auto& row :
             connection.execute("SELECT " + std::string(machine_columns) + " FROM machines ORDER BY name, id").rows)
            out.push_back(read_machine(row));
        return out;
    });
}

result<machine_row> sql_lab_store::set_machine_state(const machine_id& id, machine_state state, std::string_view reason,
                                                     const std::optional<std::string>& until) {
    return guard_.run<machine_row>([&](sql_connection& connection) -> result<machine_row> {
        sql_transaction transaction(connection);
        auto machine = lock_machine(connection, id.text());
        if (!machine) return machine.error();
        machine->state = state;
        machine->reason = reason;
        machine->maintenance_until = state == machine_state::maintenance ? until : std::nullopt;
        if (state == machine_state::active) machine->failed_checks = 0;
        write_state(connection, *machine);
        transaction.commit();
        return *machine;
    });
}

result<void> sql_lab_store::remove_machine(const machine_id& id) {
    return guard_.run<void>([&](sql_connection& connection) -> result<void> {
        sql_transaction transaction(connection);
        if (const auto machine = lock_machine(connection, id.text()); !machine) return machine.error();
        // The reaper looks after registered machines only: a run of a forgotten one would stay running.
        const auto running =
            connection.execute("SELECT id FROM runs WHERE state = 'running' AND machine_id = $1 LIMIT 1", {id.text()});
        if (!running.rows.empty())
            return error{error_code::conflict,
                         "machine " + id.text() + " has run " + running.rows[0].text(0),
                         {},
                         "Drain it first."};
        connection.execute("DELETE FROM machines WHERE id = $1", {id.text()});
        transaction.commit();
        return {};
    });
}

result<machine_row> sql_lab_store::report_check(const machine_id& id, bool passed, std::string_view reason) {
    return guard_.run<machine_row>([&](sql_connection& connection) -> result<machine_row> {
        sql_transaction transaction(connection);
        auto machine = lock_machine(connection, id.text());
        if (!machine) return machine.error();
        machine->failed_checks = passed ? 0 : machine->failed_checks + 1;
        if (machine->failed_checks >= failed_checks_before_quarantine && machine->state == machine_state::active) {
            machine->state = machine_state::quarantined;
            machine->reason = reason;
        }
        write_state(connection, *machine);
        transaction.commit();
        return *machine;
    });
}

result<std::vector<run_row>> sql_lab_store::reap_expired(const std::function<std::string()>& make_id) {
    return guard_.run<std::vector<run_row>>([&](sql_connection& connection) -> result<std::vector<run_row>> {
        // Most calls find nothing; they should not take SQLite's write lock for that.
        // No lease lasts an hour: one that ends later was given before the clock was set back.
        const auto expired =
            "state = 'running' AND (lease_until_ms <= $1 OR lease_until_ms > $1 + 3600000) AND machine_id IN (SELECT "
            "id "
            "FROM machines)";
        if (connection.execute("SELECT 1 FROM runs WHERE " + std::string(expired) + " LIMIT 1", {now_ms()})
                .rows.empty())
            return std::vector<run_row>();
        sql_transaction transaction(connection);
        const auto reaped = read_run_rows(
            connection.execute("UPDATE runs SET state = 'interrupted', phase = '', ended_at = $2, error = "
                               "'The lease ran out: the machine was not heard of any more' WHERE " +
                                   std::string(expired) + " RETURNING " + std::string(run_columns),
                               {now_ms(), now_text()}));
        for (const auto& run : reaped) {
            const bool cancelled =
                connection.execute("SELECT cancel_requested FROM runs WHERE id = $1", {run.id}).rows[0].integer(0) != 0;
            if (run.attempt >= max_attempts || cancelled) continue;
            const std::string next = make_id();
            // The key makes the next attempt findable from the lost one, and can exist once only.
            connection.execute(
                "INSERT INTO runs (id, state, request, label, created_at, idempotency_key, schedule_id, "
                "required_labels, attempt) "
                "VALUES ($1, 'queued', $2, $3, $4, $5, $6, $7, $8)",
                {next, run.request_text, sql_optional(run.label), now_text(), "attempt after " + run.id,
                 sql_optional(run.schedule_id), join_labels(run.required_labels), std::int64_t{run.attempt} + 1});
            for (const auto& label : run.required_labels)
                connection.execute("INSERT INTO run_labels (run_id, label) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                                   {next, label});
            if (connection.dialect() == sql_dialect::postgresql)
                connection.execute("SELECT pg_notify('assay_queue', $1)", {next});
        }
        transaction.commit();
        return reaped;
    });
}

}  // namespace assay
