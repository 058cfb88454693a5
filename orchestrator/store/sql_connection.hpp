// One SQL connection, SQLite's or PostgreSQL's, behind one small interface: the same statements run on both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.hpp"

namespace assay {

enum class sql_dialect { sqlite, postgresql };

/// A parameter. Text is UTF-8 without NUL.
using sql_value = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

/// std::nullopt becomes NULL.
template <class T>
sql_value sql_optional(const std::optional<T>& value) {
    if (value) return *value;
    return nullptr;
}

/// One row of an answer; columns count from 0.
class sql_row {
  public:
    explicit sql_row(std::vector<std::optional<std::string>> cells) : cells_(std::move(cells)) {}
    bool is_null(std::size_t column) const { return !cells_.at(column).has_value(); }
    /// Empty for NULL.
    std::string text(std::size_t column) const { return cells_.at(column).value_or(std::string()); }
    const std::optional<std::string>& optional_text(std::size_t column) const { return cells_.at(column); }
    /// 0 for NULL.
    std::int64_t integer(std::size_t column) const;
    std::optional<double> optional_real(std::size_t column) const;
    std::size_t columns() const { return cells_.size(); }

  private:
    std::vector<std::optional<std::string>> cells_;
};

struct sql_answer {
    std::vector<sql_row> rows;
    std::int64_t changed = 0;  ///< rows inserted, updated or deleted
};

/// A failed statement. `kind` says what a caller can do about it.
class sql_failure : public error_exception {
  public:
    enum class kind {
        duplicate,  ///< a unique key exists already
        contended,  ///< another writer was first; the transaction may be tried again
        lost,       ///< the connection is gone
        other,
    };
    sql_failure(kind type, error cause) : error_exception(std::move(cause)), kind_(type) {}
    kind type() const { return kind_; }

  private:
    kind kind_;
};

/// A connection for one thread at a time. Parameters are written $1, $2, ... in both dialects.
class sql_connection {
  public:
    virtual ~sql_connection() = default;
    virtual sql_dialect dialect() const = 0;
    /// Runs one statement, prepared once and kept. Throws sql_failure.
    virtual sql_answer execute(std::string_view sql, const std::vector<sql_value>& parameters = {}) = 0;
    /// Runs several statements without parameters. Throws sql_failure.
    virtual void execute_script(const std::string& sql) = 0;
    /// Makes sure the connection lives, connecting anew where it was lost (never inside a transaction). Throws
    /// sql_failure.
    virtual void ensure_alive() = 0;
};

/// Opens a database file, made where missing: write-ahead log, busy timeout, foreign keys. Throws sql_failure.
std::unique_ptr<sql_connection> connect_sqlite(const std::string& path);
/// Connects by a libpq URI, "postgresql://...". Throws sql_failure.
std::unique_ptr<sql_connection> connect_postgresql(const std::string& url);

/// A transaction that takes its write lock at once and is rolled back unless committed.
class sql_transaction {
  public:
    explicit sql_transaction(sql_connection& connection);
    ~sql_transaction();
    sql_transaction(const sql_transaction&) = delete;
    sql_transaction& operator=(const sql_transaction&) = delete;
    void commit();

  private:
    sql_connection& connection_;
    bool open_ = true;
};

}  // namespace assay
