// run_store over SQL: the same statements on SQLite and PostgreSQL.
#pragma once

#include <memory>

#include "core/clock.hpp"
#include "run/ports.hpp"
#include "store/sql_connection.hpp"
#include "store/sql_guard.hpp"

namespace assay {

/// A run_store on one connection. Calls from several threads are taken one after the other. A store that cannot be
/// reached, written or read answers with unavailable, io_error or corrupt; the next call connects anew.
class sql_run_store final : public run_store {
  public:
    /// `time` outlives the store and gives the times of rows and leases.
    sql_run_store(std::unique_ptr<sql_connection> connection, const clock& time)
        : guard_(std::move(connection)), time_(time) {}

    result<run_row> enqueue(const run_row& row) override;
    result<std::optional<run_row>> claim(const machine_id& machine, const std::vector<std::string>& labels,
                                         std::chrono::seconds lease) override;
    result<run_row> claim_run(const run_id& id, const machine_id& machine, std::chrono::seconds lease) override;
    result<void> heartbeat(const run_id& id, std::int64_t fencing_token, std::chrono::seconds lease) override;
    result<void> set_phase(const run_id& id, std::int64_t fencing_token, std::string_view phase) override;
    result<void> finish(const run_id& id, std::int64_t fencing_token, run_state state, const receipt_summary& summary,
                        std::string_view file_bytes) override;
    result<void> end_without_receipt(const run_id& id, run_state state, std::string_view error_text) override;
    result<run_row> request_cancel(const run_id& id) override;
    result<bool> cancel_requested(const run_id& id) override;
    result<std::vector<run_row>> running_on(const machine_id& machine) override;
    result<std::vector<run_row>> expired_leases() override;
    result<run_row> find_run(const run_id& id) override;
    result<run_page> list_runs(const run_filter& filter) override;

    result<void> add_receipt(const receipt_summary& summary, std::string_view file_bytes) override;
    result<std::string> receipt_file(const receipt_id& id) override;
    result<receipt_summary> find_receipt(const receipt_id& id) override;
    result<receipt_page> list_receipts(const receipt_filter& filter) override;
    result<std::optional<chain_head>> chain_head_of(const machine_id& machine) override;

  private:
    std::string now_text() const { return format_utc(time_.now()); }
    std::int64_t now_ms() const;

    sql_guard guard_;
    const clock& time_;
};

}  // namespace assay
