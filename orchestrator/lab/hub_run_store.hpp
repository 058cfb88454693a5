// The hub as a run_store, so that an agent runs the very loop that `assay serve` runs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "contract/lab_messages.hpp"
#include "lab/hub_client.hpp"
#include "lab/outbox.hpp"
#include "run/ports.hpp"

namespace assay::lab {

/// How an agent behaves towards its hub.
struct agent_timing {
    std::chrono::milliseconds long_poll{10'000};   ///< how long a request for work waits at the hub
    std::chrono::milliseconds cancel_look{5'000};  ///< how often a running run asks whether it was cancelled
    std::chrono::milliseconds first_pause{500};    ///< after a failure; doubles
    std::chrono::milliseconds longest_pause{30'000};
    std::size_t part_bytes = 512 * 1024;  ///< of an upload
};

/// claim() asks the hub and first delivers what waits in the outbox: a machine has one slot, and its receipt comes
/// before its next run. finish() and end_without_receipt() put the run's end on disk and return; the hub gets it then
/// or later. Calls block.
class hub_run_store final : public run_store {
  public:
    /// `client` outlives this. `time` is the machine's.
    hub_run_store(hub_client* client, outbox box, machine_registration self, const clock& time,
                  agent_timing timing = {});

    result<std::optional<run_row>> claim(const machine_id& machine, const std::vector<std::string>& labels,
                                         std::chrono::seconds lease) override;
    result<void> heartbeat(const run_id& id, std::int64_t fencing_token, std::chrono::seconds lease) override;
    result<void> set_phase(const run_id& id, std::int64_t fencing_token, std::string_view phase) override;
    result<void> finish(const run_id& id, std::int64_t fencing_token, run_state state, const receipt_summary& summary,
                        std::string_view file_bytes) override;
    result<void> end_without_receipt(const run_id& id, run_state, std::string_view error_text) override;
    result<bool> cancel_requested(const run_id& id) override;
    result<std::vector<run_row>> running_on(const machine_id& machine) override;

    /// Delivers what waits; answers how many receipts and ends still do.
    std::size_t deliver_waiting();

    // An agent's loop asks for none of these; the hub has the answers.
    result<run_row> enqueue(const run_row&) override;
    result<run_row> claim_run(const run_id&, const machine_id&, std::chrono::seconds) override;
    result<run_row> request_cancel(const run_id&) override;
    result<std::vector<run_row>> expired_leases() override;
    result<run_row> find_run(const run_id&) override;
    result<run_page> list_runs(const run_filter&) override;
    result<void> add_receipt(const receipt_summary&, std::string_view) override;
    result<std::string> receipt_file(const receipt_id&) override;
    result<receipt_summary> find_receipt(const receipt_id&) override;
    result<receipt_page> list_receipts(const receipt_filter&) override;
    result<std::optional<chain_head>> chain_head_of(const machine_id&) override;

  private:
    result<void> register_self();
    result<void> deliver(const agent_journal_entry& entry);
    /// What the hub will never take is set aside, and its run ended at the hub; false when the disk does not take that.
    bool give_up(const agent_journal_entry& entry, const error& cause);
    result<void> upload(const std::string& sha256, const std::string& bytes);
    result<heartbeat_answer> beat(const run_id& id, std::int64_t fencing_token, std::optional<std::string> phase);
    /// Logs the failure once a row and waits, longer each time.
    void back_off(const error& cause);

    hub_client* client_;
    outbox box_;
    machine_registration self_;
    const clock& time_;
    agent_timing timing_;
    bool registered_ = false;
    std::chrono::milliseconds pause_;
    std::int64_t token_ = 0;  ///< of the run in progress
    bool cancel_ = false;
    std::chrono::steady_clock::time_point last_beat_{};
};

}  // namespace assay::lab
