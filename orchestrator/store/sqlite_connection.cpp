// SQLite behind sql_connection.
#include <sqlite3.h>

#include <charconv>
#include <map>

#include "store/sql_connection.hpp"

namespace assay {
namespace {

constexpr int busy_timeout_ms = 10000;
constexpr std::size_t max_kept_statements = 200;

class sqlite_connection final : public sql_connection {
  public:
    explicit sqlite_connection(const std::string& path) : path_(path) {
        sqlite3* handle = nullptr;
        const int code = sqlite3_open_v2(path.c_str(), &handle,
                                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
        database_.reset(handle);
        if (code != SQLITE_OK) throw failure(code, "open");
        sqlite3_extended_result_codes(handle, 1);
        sqlite3_busy_timeout(handle, busy_timeout_ms);
        // Readers and the writer do not block each other; a commit is on disk when it returns; the log is cut back to
        // 16 MiB after each checkpoint, and one is made every 1000 pages.
        execute("PRAGMA journal_mode = WAL");
        execute("PRAGMA synchronous = FULL");
        execute("PRAGMA foreign_keys = ON");
        execute("PRAGMA wal_autocheckpoint = 1000");
        execute("PRAGMA journal_size_limit = 16777216");
        // WAL mode is also "set" on a file that cannot be written; say so at the start, not at the first run.
        if (sqlite3_db_readonly(handle, "main") == 1) throw failure(SQLITE_READONLY, "open");
    }
    ~sqlite_connection() override { statements_.clear(); }

    sql_dialect dialect() const override { return sql_dialect::sqlite; }
    void ensure_alive() override {}

    sql_answer execute(std::string_view sql, const std::vector<sql_value>& parameters) override {
        sqlite3_stmt* statement = prepared(sql);
        struct reset_at_end {
            sqlite3_stmt* statement;
            ~reset_at_end() {
                sqlite3_reset(statement);
                sqlite3_clear_bindings(statement);
            }
        } const guard{statement};
        for (std::size_t i = 0; i < parameters.size(); ++i) bind(statement, i + 1, parameters[i]);
        sql_answer answer;
        for (;;) {
            const int code = sqlite3_step(statement);
            if (code == SQLITE_DONE) break;
            if (code != SQLITE_ROW) throw failure(code, sql);
            answer.rows.push_back(read_row(statement));
        }
        answer.changed = sqlite3_changes64(database_.get());
        return answer;
    }
    sql_answer execute(std::string_view sql) { return execute(sql, {}); }

    void execute_script(const std::string& sql) override {
        const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
        if (code != SQLITE_OK) throw failure(code, "run a script");
    }

  private:
    struct close_database {
        void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
    };
    struct finalise {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

    sqlite3_stmt* prepared(std::string_view sql) {
        if (const auto found = statements_.find(sql); found != statements_.end()) return found->second.get();
        if (statements_.size() >= max_kept_statements) statements_.clear();
        sqlite3_stmt* statement = nullptr;
        const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                            SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
        if (code != SQLITE_OK) throw failure(code, sql);
        statements_.emplace(std::string(sql), statement);
        return statement;
    }

    void bind(sqlite3_stmt* statement, std::size_t number, const sql_value& value) {
        const std::string name = "$" + std::to_string(number);
        const int at = sqlite3_bind_parameter_index(statement, name.c_str());
        if (at == 0) return;
        int code = SQLITE_OK;
        if (const auto* integer = std::get_if<std::int64_t>(&value))
            code = sqlite3_bind_int64(statement, at, *integer);
        else if (const auto* real = std::get_if<double>(&value))
            code = sqlite3_bind_double(statement, at, *real);
        else if (const auto* text = std::get_if<std::string>(&value))
            code = sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
        else
            code = sqlite3_bind_null(statement, at);
        if (code != SQLITE_OK) throw failure(code, "bind a parameter");
    }

    static sql_row read_row(sqlite3_stmt* statement) {
        std::vector<std::optional<std::string>> cells(static_cast<std::size_t>(sqlite3_column_count(statement)));
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const int column = static_cast<int>(i);
            switch (sqlite3_column_type(statement, column)) {
                case SQLITE_NULL:
                    break;
                case SQLITE_FLOAT: {
                    // SQLite's own text has 15 digits only; the shortest exact form loses nothing.
                    char digits[40];
                    const auto end =
                        std::to_chars(digits, digits + sizeof digits, sqlite3_column_double(statement, column)).ptr;
                    cells[i] = std::string(digits, end);
                    break;
                }
                default: {
                    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
                    cells[i] = std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
                }
            }
        }
        return sql_row(std::move(cells));
    }

    sql_failure failure(int code, std::string_view what) const {
        const int primary = code & 0xff;
        const std::string said = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code);
        const std::string message = "the database " + path_ + " says \"" + said + "\"";
        using kind = sql_failure::kind;
        switch (primary) {
            case SQLITE_CONSTRAINT:
                return {code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY ? kind::duplicate
                                                                                                 : kind::other,
                        {error_code::conflict, message}};
            case SQLITE_BUSY:
            case SQLITE_LOCKED:
                return {kind::contended,
                        {error_code::unavailable,
                         message + " after 10 s of waiting",
                         {},
                         "Another process holds the database; try again."}};
            case SQLITE_READONLY:
            case SQLITE_PERM:
            case SQLITE_CANTOPEN:
                return {kind::other,
                        {error_code::unavailable,
                         message,
                         {},
                         "The file and its folder must be writable by the user that runs this."}};
            case SQLITE_FULL:
                return {kind::other,
                        {error_code::unavailable,
                         message,
                         {},
                         "Free some space on that disk; nothing was stored in part."}};
            case SQLITE_CORRUPT:
            case SQLITE_NOTADB:
                return {kind::other,
                        {error_code::corrupt,
                         message,
                         {},
                         "Move the file away and restore a backup; the receipts in the home's receipts folder can be "
                         "imported again."}};
            case SQLITE_IOERR:
                return {kind::other, {error_code::io_error, message}};
            default:
                return {kind::other, {error_code::internal, message + " at: " + std::string(what)}};
        }
    }

    std::string path_;
    std::unique_ptr<sqlite3, close_database> database_;
    std::map<std::string, std::unique_ptr<sqlite3_stmt, finalise>, std::less<>> statements_;
};

}  // namespace

std::unique_ptr<sql_connection> connect_sqlite(const std::string& path) {
    return std::make_unique<sqlite_connection>(path);
}

}  // namespace assay
