#include "store/sql_connection.hpp"

#include <charconv>

namespace assay {

std::int64_t sql_row::integer(std::size_t column) const {
    const auto& cell = cells_.at(column);
    std::int64_t value = 0;
    if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), value);
    return value;
}

std::optional<double> sql_row::optional_real(std::size_t column) const {
    const auto& cell = cells_.at(column);
    if (!cell) return std::nullopt;
    double value = 0;
    std::from_chars(cell->data(), cell->data() + cell->size(), value);
    return value;
}

sql_transaction::sql_transaction(sql_connection& connection) : connection_(connection) {
    // SQLite: a transaction that begins as a reader and then writes can fail with SQLITE_BUSY without any wait.
    connection_.execute(connection.dialect() == sql_dialect::sqlite ? "BEGIN IMMEDIATE" : "BEGIN");
}

sql_transaction::~sql_transaction() {
    if (!open_) return;
    try {
        connection_.execute("ROLLBACK");
    } catch (const sql_failure&) {
        // The connection is gone or the engine has rolled back by itself: either way nothing of it stays.
    }
}

void sql_transaction::commit() {
    connection_.execute("COMMIT");
    open_ = false;
}

}  // namespace assay
