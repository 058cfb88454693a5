// How a store method runs: alone, on a live connection, its failures as results.
#pragma once

#include "store/sql_run_store.hpp"

namespace assay {

template <class T, class Work>
result<T> sql_run_store::guarded(Work work) {
    const std::lock_guard alone(one_at_a_time_);
    // A deadlock or a lost race rolls the whole transaction back, so it can be tried again as it was.
    constexpr int max_tries = 5;
    for (int attempt = 1;; ++attempt) {
        try {
            connection_->ensure_alive();
            return work();
        } catch (const sql_failure& failure) {
            const bool again =
                failure.type() == sql_failure::kind::contended && connection_->dialect() == sql_dialect::postgresql;
            if (!again || attempt == max_tries) return failure.cause();
        } catch (const error_exception& failure) {
            return failure.cause();
        }
    }
}

}  // namespace assay
