#include "store/migrate.hpp"

#include "receipt/digest.hpp"

namespace assay {
namespace {

constexpr std::string_view postgresql_mark = "--postgresql ";
// Two orchestrators that start at once migrate one after the other. The number is the word "assay" in ASCII.
constexpr std::string_view migration_lock = "SELECT pg_advisory_xact_lock(418548769145)";

}  // namespace

std::string migration_text(std::string_view sql, sql_dialect dialect) {
    if (dialect != sql_dialect::postgresql) return std::string(sql);
    std::string out;
    while (!sql.empty()) {
        const auto end = std::min(sql.find('\n'), sql.size() - 1) + 1;
        auto line = sql.substr(0, end);
        sql.remove_prefix(end);
        if (line.starts_with(postgresql_mark)) line.remove_prefix(postgresql_mark.size());
        out += line;
    }
    return out;
}

void migrate(sql_connection& connection, std::span<const migration> migrations, const clock& time) {
    sql_transaction transaction(connection);
    if (connection.dialect() == sql_dialect::postgresql) connection.execute(migration_lock);
    connection.execute_script(
        "CREATE TABLE IF NOT EXISTS schema_migrations ("
        "version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TEXT NOT NULL)");
    std::size_t applied = 0;
    for (const auto& row :
         connection.execute("SELECT version, name, sha256 FROM schema_migrations ORDER BY version").rows) {
        if (applied >= migrations.size())
            throw error_exception(
                {error_code::unsupported_version,
                 "the store has form " + row.text(0) + " (" + row.text(1) + "), newer than this build knows",
                 {},
                 "Use a newer assay with this store."});
        const auto& known = migrations[applied];
        if (row.integer(0) != known.version || row.text(2) != sha256_hex(known.sql))
            throw error_exception(
                {error_code::corrupt,
                 "migration " + row.text(1) + " of the store is not this build's " + std::string(known.name)});
        ++applied;
    }
    for (const auto& next : migrations.subspan(applied)) {
        connection.execute_script(migration_text(next.sql, connection.dialect()));
        connection.execute(
            "INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES ($1, $2, $3, $4)",
            {std::int64_t{next.version}, std::string(next.name), sha256_hex(next.sql), format_utc(time.now())});
    }
    transaction.commit();
}

}  // namespace assay
