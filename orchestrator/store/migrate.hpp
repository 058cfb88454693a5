// The database's form, versioned: every change is a numbered SQL file that is applied once and never edited.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "store/sql_connection.hpp"

namespace assay {

/// One file of migrations/, embedded at build.
struct migration {
    int version = 0;
    std::string_view name;  ///< "0001_runs_and_receipts"
    std::string_view sql;
};

/// All migrations of this build, by version from 1 without a gap.
std::span<const migration> embedded_migrations();

/// Brings the database to the newest version. All missing migrations are applied in ONE transaction, so that a failure
/// leaves the old form. Throws error_exception: unsupported_version when the database is newer than this build, corrupt
/// when an applied migration's digest differs from this build's.
void migrate(sql_connection& connection, std::span<const migration> migrations, const clock& time);

/// The text of a migration for one engine: lines that begin with "--postgresql " are opened for PostgreSQL.
std::string migration_text(std::string_view sql, sql_dialect dialect);

}  // namespace assay
