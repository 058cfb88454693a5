// PostgreSQL behind sql_connection, through libpq.
#include <libpq-fe.h>

#include <charconv>
#include <chrono>
#include <map>

#include "store/sql_connection.hpp"

namespace assay {
namespace {

constexpr std::size_t max_kept_statements = 200;
constexpr auto idle_before_probe = std::chrono::seconds(1);

std::string trimmed(const char* text) {
    std::string out = text == nullptr ? "" : text;
    while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
    return out;
}

class postgresql_connection final : public sql_connection {
  public:
    explicit postgresql_connection(const std::string& url) : url_(url) { connect(); }

    sql_dialect dialect() const override { return sql_dialect::postgresql; }

    void ensure_alive() override {
        if (PQstatus(connection_.get()) == CONNECTION_OK) {
            if (std::chrono::steady_clock::now() - last_use_ < idle_before_probe) return;
            // A server that restarted while we were idle is noticed only by talking to it.
            const answer_handle probe(PQexec(connection_.get(), "SELECT 1"));
            last_use_ = std::chrono::steady_clock::now();
            if (PQresultStatus(probe.get()) == PGRES_TUPLES_OK) return;
        }
        connect();
    }

    sql_answer execute(std::string_view sql, const std::vector<sql_value>& parameters) override {
        std::vector<std::string> texts(parameters.size());
        std::vector<const char*> values(parameters.size());
        for (std::size_t i = 0; i < parameters.size(); ++i) values[i] = as_text(parameters[i], texts[i]);
        const std::string name = prepared(sql);
        const answer_handle answer(PQexecPrepared(connection_.get(), name.c_str(), static_cast<int>(values.size()),
                                                  values.data(), nullptr, nullptr, 0));
        last_use_ = std::chrono::steady_clock::now();
        check(answer.get());
        return read(answer.get());
    }

    void execute_script(const std::string& sql) override {
        const answer_handle answer(PQexec(connection_.get(), sql.c_str()));
        last_use_ = std::chrono::steady_clock::now();
        check(answer.get());
    }

  private:
    struct close_connection {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };
    struct clear_answer {
        void operator()(PGresult* answer) const { PQclear(answer); }
    };
    using answer_handle = std::unique_ptr<PGresult, clear_answer>;

    void connect() {
        statements_.clear();
        const char* const names[] = {
            "dbname", "connect_timeout", "keepalives_idle", "tcp_user_timeout", "application_name", "client_encoding",
            nullptr};
        // A URI in "dbname" is expanded; what it says itself comes first.
        const char* const values[] = {url_.c_str(), "5", "10", "15000", "assay", "UTF8", nullptr};
        connection_.reset(PQconnectdbParams(names, values, 1));
        if (PQstatus(connection_.get()) != CONNECTION_OK)
            throw sql_failure(
                sql_failure::kind::lost,
                {error_code::unavailable, "cannot reach the store: " + trimmed(PQerrorMessage(connection_.get()))});
        PQsetNoticeProcessor(
            connection_.get(), [](void*, const char*) {}, nullptr);
        last_use_ = std::chrono::steady_clock::now();
    }

    static const char* as_text(const sql_value& value, std::string& storage) {
        if (std::holds_alternative<std::nullptr_t>(value)) return nullptr;
        if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            storage = std::to_string(*integer);
        } else if (const auto* real = std::get_if<double>(&value)) {
            char digits[40];
            storage.assign(digits, std::to_chars(digits, digits + sizeof digits, *real).ptr);
        } else {
            const auto& text = std::get<std::string>(value);
            if (text.find('\0') != std::string::npos)
                throw sql_failure(sql_failure::kind::other,
                                  {error_code::invalid_argument, "a text for the store holds a NUL byte"});
            return text.c_str();
        }
        return storage.c_str();
    }

    std::string prepared(std::string_view sql) {
        if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
        if (statements_.size() >= max_kept_statements) {
            execute_script("DEALLOCATE ALL");
            statements_.clear();
        }
        const std::string name = "s" + std::to_string(next_statement_++);
        const answer_handle answer(PQprepare(connection_.get(), name.c_str(), std::string(sql).c_str(), 0, nullptr));
        check(answer.get());
        statements_.emplace(std::string(sql), name);
        return name;
    }

    static sql_answer read(const PGresult* answer) {
        sql_answer out;
        const int columns = PQnfields(answer);
        for (int row = 0; row < PQntuples(answer); ++row) {
            std::vector<std::optional<std::string>> cells(static_cast<std::size_t>(columns));
            for (int column = 0; column < columns; ++column)
                if (PQgetisnull(answer, row, column) == 0)
                    cells[static_cast<std::size_t>(column)] = std::string(
                        PQgetvalue(answer, row, column), static_cast<std::size_t>(PQgetlength(answer, row, column)));
            out.rows.emplace_back(std::move(cells));
        }
        const std::string changed = PQcmdTuples(const_cast<PGresult*>(answer));
        std::from_chars(changed.data(), changed.data() + changed.size(), out.changed);
        return out;
    }

    void check(const PGresult* answer) {
        const auto status = PQresultStatus(answer);
        if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return;
        using kind = sql_failure::kind;
        const char* code_text = answer == nullptr ? nullptr : PQresultErrorField(answer, PG_DIAG_SQLSTATE);
        const std::string code = code_text == nullptr ? "" : code_text;
        const std::string message = "the store says \"" + trimmed(PQerrorMessage(connection_.get())) + "\"";
        if (PQstatus(connection_.get()) != CONNECTION_OK || code.starts_with("08") || code.starts_with("57P"))
            throw sql_failure(kind::lost, {error_code::unavailable, message});
        if (code == "23505") throw sql_failure(kind::duplicate, {error_code::conflict, message});
        if (code == "40001" || code == "40P01" || code == "55P03")
            throw sql_failure(kind::contended, {error_code::unavailable, message});
        if (code == "25006" || code.starts_with("53"))
            throw sql_failure(kind::other, {error_code::unavailable, message});
        if (code.starts_with("22")) throw sql_failure(kind::other, {error_code::invalid_argument, message});
        throw sql_failure(kind::other, {error_code::internal, message + " (" + code + ")"});
    }

    std::string url_;
    std::unique_ptr<PGconn, close_connection> connection_;
    std::map<std::string, std::string, std::less<>> statements_;  ///< SQL text -> prepared name, on this connection
    std::uint64_t next_statement_ = 0;
    std::chrono::steady_clock::time_point last_use_{};
};

}  // namespace

std::unique_ptr<sql_connection> connect_postgresql(const std::string& url) {
    return std::make_unique<postgresql_connection>(url);
}

}  // namespace assay
