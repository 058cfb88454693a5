// How a store method runs: alone, on a live connection, its failures as results.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "core/result.hpp"
#include "store/sql_connection.hpp"

namespace assay {

/// A connection shared by threads that take turns.
class sql_guard {
  public:
    explicit sql_guard(std::unique_ptr<sql_connection> connection) : connection_(std::move(connection)) {}

    /// Runs `work(connection)` alone; what it throws becomes the result's error. A deadlock or a lost race rolled the
    /// whole transaction back, so PostgreSQL's are tried again as they were.
    template <class T, class Work>
    result<T> run(Work work) {
        const std::lock_guard alone(one_at_a_time_);
        constexpr int max_tries = 5;
        for (int attempt = 1;; ++attempt) {
            try {
                connection_->ensure_alive();
                return work(*connection_);
            } catch (const sql_failure& failure) {
                const bool again =
                    failure.type() == sql_failure::kind::contended && connection_->dialect() == sql_dialect::postgresql;
                if (!again || attempt == max_tries) return failure.cause();
            } catch (const error_exception& failure) {
                return failure.cause();
            }
        }
    }

  private:
    std::mutex one_at_a_time_;
    std::unique_ptr<sql_connection> connection_;
};

/// " FOR UPDATE" where the engine locks rows.
inline const char* row_lock(const sql_connection& connection) {
    return connection.dialect() == sql_dialect::postgresql ? " FOR UPDATE" : "";
}

}  // namespace assay
