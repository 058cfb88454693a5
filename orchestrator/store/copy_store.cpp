#include "store/copy_store.hpp"

#include <unistd.h>

#include <charconv>

#include "store/open_store.hpp"

namespace assay {
namespace {

constexpr std::int64_t rows_a_page = 500;

/// A table with its primary key; the order respects foreign keys.
struct table {
    const char* name;
    const char* columns;
    std::vector<std::size_t> key;  ///< places of the key's columns
};

const std::vector<table>& all_tables() {
    static const std::vector<table> tables = {
        {"runs",
         "id, state, phase, request, label, created_at, started_at, ended_at, receipt_id, error, idempotency_key, "
         "machine_id, "
         "schedule_id, required_labels, fencing_token, attempt, cancel_requested, lease_until_ms",
         {0}},
        {"run_labels", "run_id, label", {0, 1}},
        {"receipts",
         "id, run_id, machine_id, machine_name, created_at, preset, arm_a, arm_b, verdict, evidence, policy, speedup, "
         "interval_low, interval_high, a_median_ms, b_median_ms, max_loss_drift, flops_per_step, repeat_spread_a, "
         "repeat_spread_b, label, precision_rule, browser, adapter, first_reason, file_sha256, chain_sequence",
         {0}},
        {"receipt_files", "receipt_id, bytes", {0}},
        {"machines",
         "id, name, public_key, labels, facts, state, reason, failed_checks, first_seen, last_seen, maintenance_until",
         {0}},
        {"documents", "kind, id, text", {0, 1}},
        {"upload_parts", "sha256, position, bytes, arrived_ms", {0, 1}},
    };
    return tables;
}

std::vector<std::string> column_names(const table& of) {
    std::vector<std::string> names;
    std::string_view text = of.columns;
    while (!text.empty()) {
        const auto end = std::min(text.find(','), text.size());
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return names;
}

/// The key's order is the same on both engines: ids, labels and digests compare by bytes.
std::string ordered(const std::string& column, sql_dialect dialect) {
    return dialect == sql_dialect::postgresql && column != "position" ? column + " COLLATE \"C\"" : column;
}

/// Reads a table page by page in key order.
class table_reader {
  public:
    table_reader(sql_connection& connection, const table& of)
        : connection_(connection), table_(of), names_(column_names(of)) {}

    std::vector<sql_row> next() {
        std::string order, key, places;
        for (std::size_t i = 0; i < table_.key.size(); ++i) {
            const std::string comma = i == 0 ? "" : ", ";
            order += comma + ordered(names_[table_.key[i]], connection_.dialect());
            places += comma + "$" + std::to_string(i + 1);
        }
        std::string sql = "SELECT " + std::string(table_.columns) + " FROM " + table_.name;
        std::vector<sql_value> values;
        if (!last_.empty()) {
            sql += " WHERE (" + order + ") > (" + places + ")";
            for (std::size_t i = 0; i < last_.size(); ++i) {
                if (names_[table_.key[i]] == "position")
                    values.emplace_back(std::int64_t{std::stoll(last_[i])});
                else
                    values.emplace_back(last_[i]);
            }
        }
        auto rows =
            connection_.execute(sql + " ORDER BY " + order + " LIMIT " + std::to_string(rows_a_page), values).rows;
        if (!rows.empty()) {
            last_.clear();
            for (const auto column : table_.key) last_.push_back(rows.back().text(column));
        }
        return rows;
    }

  private:
    sql_connection& connection_;
    const table& table_;
    std::vector<std::string> names_;
    std::vector<std::string> last_;
};

/// The engines write the same double in different ways ("1e+17", "100000000000000000").
bool same_cell(const std::optional<std::string>& a, const std::optional<std::string>& b) {
    if (a == b) return true;
    if (!a || !b) return false;
    const auto number = [](const std::string& text, double& out) {
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
        return failure == std::errc() && end == text.data() + text.size();
    };
    double x = 0, y = 0;
    return number(*a, x) && number(*b, y) && x == y;
}

void insert(sql_connection& target, const table& into, const sql_row& row) {
    std::string places;
    std::vector<sql_value> values;
    for (std::size_t i = 0; i < row.columns(); ++i) {
        values.push_back(sql_optional(row.optional_text(i)));
        places += (i == 0 ? "$" : ", $") + std::to_string(i + 1);
    }
    target.execute("INSERT INTO " + std::string(into.name) + " (" + into.columns + ") VALUES (" + places + ")", values);
}

std::int64_t compare(sql_connection& source, sql_connection& target, const table& of) {
    table_reader left(source, of), right(target, of);
    const auto names = column_names(of);
    std::int64_t rows = 0;
    for (;;) {
        const auto a = left.next(), b = right.next();
        const auto differ = [&](const std::string& where) {
            throw error_exception(
                {error_code::corrupt, "the copy of the table " + std::string(of.name) + " differs " + where});
        };
        if (a.size() != b.size()) differ("in its number of rows, after " + std::to_string(rows));
        if (a.empty()) return rows;
        for (std::size_t i = 0; i < a.size(); ++i, ++rows)
            for (std::size_t column = 0; column < names.size(); ++column)
                if (!same_cell(a[i].optional_text(column), b[i].optional_text(column)))
                    differ("at " + a[i].text(of.key[0]) + ", column " + names[column]);
    }
}

}  // namespace

result<std::vector<copied_table>> copy_store(std::string_view from, std::string_view to, const clock& time) {
    auto source = open_sql(from, time);
    if (!source) return source.error();
    auto target = open_sql(to, time);
    if (!target) return target.error();
    try {
        sql_transaction reading(**source), writing(**target);
        std::vector<copied_table> copied;
        for (const auto& each : all_tables())
            if (!(*target)->execute("SELECT 1 FROM " + std::string(each.name) + " LIMIT 1").rows.empty())
                return error{error_code::conflict,
                             "the store " + store_url_for_display(to) + " is not empty: it has " + each.name};
        if ((*source)->dialect() == sql_dialect::postgresql)
            (*source)->execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
        for (const auto& each : all_tables()) {
            table_reader rows(**source, each);
            for (auto page = rows.next(); !page.empty(); page = rows.next())
                for (const auto& row : page) insert(**target, each, row);
            copied.push_back({each.name, compare(**source, **target, each)});
        }
        writing.commit();
        return copied;
    } catch (const error_exception& failure) {
        return failure.cause();
    }
}

result<void> back_up_store(std::string_view url, const std::filesystem::path& file, const clock& time) {
    if (std::filesystem::exists(file)) return error{error_code::conflict, file.string() + " exists already"};
    const auto unfinished = file.string() + ".part-" + std::to_string(::getpid());
    const auto outcome = [&]() -> result<void> {
        if (is_postgresql_url(url)) {
            auto copied = copy_store(url, "sqlite://" + unfinished, time);
            if (!copied) return copied.error();
        } else {
            auto source = open_sql(url, time);
            if (!source) return source.error();
            (*source)->execute("VACUUM INTO $1", {unfinished});
        }
        const auto check = connect_sqlite(unfinished)->execute("PRAGMA integrity_check").rows.at(0).text(0);
        if (check != "ok") return error{error_code::corrupt, "the backup is damaged: " + check};
        return {};
    };
    result<void> done = error{error_code::internal, "no backup was made"};
    try {
        done = outcome();
    } catch (const error_exception& failure) {
        done = failure.cause();
    }
    std::error_code failure;
    if (done) {
        std::filesystem::rename(unfinished, file, failure);
        if (failure) done = error{error_code::io_error, "cannot name " + file.string() + ": " + failure.message()};
    }
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(unfinished + end, failure);
    return done;
}

}  // namespace assay
