// What a run needs of the world, declared here and implemented by browser, store, http and lab.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/adapter.hpp"
#include "contract/arm_event.hpp"
#include "contract/environment.hpp"
#include "contract/receipt.hpp"
#include "contract/run_request.hpp"
#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"

namespace assay {

template <class T>
using task = boost::asio::awaitable<T>;

// ---------------------------------------------------------------- arms (browser/ and the native and external commands)

/// What a host knows once an arm's process runs and its page said `ready`.
struct arm_opened {
    std::optional<browser_facts> browser;  ///< absent for native and external arms
    ready_event ready;
    adapter_views adapter;
    double launch_ms = 0;  ///< process start to protocol answer
    double page_ms = 0;    ///< navigation to `ready`
};

/// How an arm's process ended.
struct arm_closed {
    double close_ms = 0;
    bool forced = false;                   ///< TERM or KILL was needed
    std::vector<std::string> last_lines;   ///< the last lines it wrote to standard error, bounded
    std::vector<std::string> console;      ///< the page's console lines, bounded
};

/// One arm's process: a fresh Chrome with a fresh profile and one page, or a native command. It owns the process group,
/// the pipe, the timers and the profile folder; close() ends and removes all of them whatever state they are in, and the
/// destructor kills what close() was not called for. Every operation ends by its own deadline; errors carry `reason`
/// ("crashed", "gpu-process-crashed", "device-lost", "dialog", "navigated-away", "out-of-memory", "silence", ...) and the last lines said.
class arm_host {
  public:
    virtual ~arm_host() = default;
    /// Starts the process, opens the isolated page, waits for `ready`, reads both adapter views.
    virtual task<result<arm_opened>> open() = 0;
    /// Both views, read anew (and the page's facts, when there is a page).
    virtual task<result<adapter_views>> adapter() = 0;
    virtual task<result<facts_reply>> facts() = 0;
    virtual task<result<prepared_event>> prepare(arm_config config) = 0;
    /// Starts warmup() or measure(); the events follow through next_event().
    virtual task<result<void>> start(arm_phase phase) = 0;
    /// The next event, waiting at most `limit` for it. A typed arm error arrives as an error_code::arm_failed.
    virtual task<result<arm_event>> next_event(std::chrono::milliseconds limit) = 0;
    /// close, deadline, TERM, KILL of the whole group; never throws, never hangs.
    virtual task<arm_closed> close() = 0;
};

/// Makes arm hosts. One host an arm; nothing is started before open().
class arm_launcher {
  public:
    virtual ~arm_launcher() = default;
    /// `page_origin` is "http://127.0.0.1:PORT" of the server that serves /arm/.
    virtual result<std::unique_ptr<arm_host>> make_host(std::string_view arm, std::string_view page_origin) = 0;
};

// ---------------------------------------------------------------- served files (http/)

/// The server whose pages the arms load.
class page_server {
  public:
    virtual ~page_server() = default;
    virtual std::string origin() const = 0;
    /// SHA-256 of every file the arm's page may load, by served path.
    virtual std::vector<std::pair<std::string, std::string>> asset_digests() const = 0;
    /// Serves `bytes` at /corpus/<sha256> while the process lives; returns that path.
    virtual std::string publish_corpus(std::shared_ptr<const std::string> bytes, std::string_view sha256) = 0;
};

// ---------------------------------------------------------------- environment (browser/ has the system's readers)

class environment_reader {
  public:
    virtual ~environment_reader() = default;
    virtual machine_facts machine() = 0;
    virtual environment_snapshot snapshot() = 0;
};

// ---------------------------------------------------------------- progress

/// What a watcher may see of a run, in order. `kind` is "state", "arm", "steps", "log" or "done".
struct run_progress {
    std::string run;
    std::string kind;
    std::string json_text;  ///< the event's data, one JSON object
};

/// Takes progress without ever waiting: appends to a bounded ring, drops for slow readers.
class progress_sink {
  public:
    virtual ~progress_sink() = default;
    virtual void publish(run_progress progress) = 0;
};

// ---------------------------------------------------------------- store

enum class run_state { queued, running, done, failed, cancelled, interrupted };
std::string_view run_state_name(run_state state);

/// One run as the store knows it.
struct run_row {
    std::string id;
    run_state state = run_state::queued;
    std::string phase;             ///< while running: "launching", "measuring", ...
    std::string request_text;      ///< the validated request as JSON
    std::optional<std::string> label;
    std::string created_at;        ///< UTC
    std::optional<std::string> started_at, ended_at;
    std::optional<std::string> receipt_id;
    std::optional<std::string> error_text;
    std::optional<std::string> idempotency_key;
    std::optional<std::string> machine_id;     ///< who runs or ran it
    std::optional<std::string> schedule_id;
    std::vector<std::string> required_labels;  ///< an agent must have all of them; empty: any
    std::int64_t fencing_token = 0;            ///< grows at every claim; an upload with an older one is refused
    int attempt = 1;
};

/// What the lists and the dashboard need of a receipt without opening it.
struct receipt_summary {
    std::string id, run_id, machine_id, machine_name, created_at, preset, arm_a, arm_b, verdict, evidence, policy;
    std::optional<double> speedup, interval_low, interval_high, a_median_ms, b_median_ms, max_loss_drift, flops_per_step;
    std::optional<double> repeat_spread_a, repeat_spread_b;
    std::optional<std::string> label, precision, browser, adapter, first_reason;
    std::string file_sha256;
    std::int64_t chain_sequence = 0;
};

struct receipt_filter {
    std::optional<std::string> machine, preset, arm_a, arm_b, verdict, evidence, since, until, label;
    std::optional<std::string> cursor;  ///< opaque; from receipt_page::next
    int limit = 50;                     ///< 1..500
};
struct receipt_page {
    std::vector<receipt_summary> receipts;  ///< newest first
    std::optional<std::string> next;
};
struct run_filter {
    std::optional<run_state> state;
    std::optional<std::string> label, cursor;
    int limit = 50;
};
struct run_page {
    std::vector<run_row> runs;  ///< newest first
    std::optional<std::string> next;
};

/// The newest file of a machine's chain.
struct chain_head {
    std::string file_sha256;
    std::uint64_t sequence = 0;
};

/// Runs and receipts, durable. Calls block (on disk or the network): call them from the store's thread. Expected
/// failures are results; a lost database throws.
class run_store {
  public:
    virtual ~run_store() = default;

    /// Adds a queued run. The same idempotency key with the same request returns the run that is already there; with
    /// another request it is a conflict. At most max_queued_runs wait.
    virtual result<run_row> enqueue(const run_row& row) = 0;
    /// Takes the oldest queued run that this machine's labels satisfy; absent when there is none. The state becomes
    /// running, the fencing token grows, the lease lasts `lease`.
    virtual result<std::optional<run_row>> claim(const machine_id& machine, const std::vector<std::string>& labels,
                                                 std::chrono::seconds lease) = 0;
    /// Takes this very run, queued as it is (the command line runs what it has just added); conflict when it is not queued.
    virtual result<run_row> claim_run(const run_id& id, const machine_id& machine, std::chrono::seconds lease) = 0;
    /// Extends the lease; conflict when the token is no longer the run's.
    virtual result<void> heartbeat(const run_id& id, std::int64_t fencing_token, std::chrono::seconds lease) = 0;
    virtual result<void> set_phase(const run_id& id, std::int64_t fencing_token, std::string_view phase) = 0;
    /// Stores the signed file and ends the run, in one transaction. The same receipt id twice is stored once.
    virtual result<void> finish(const run_id& id, std::int64_t fencing_token, run_state state,
                                const receipt_summary& summary, std::string_view file_bytes) = 0;
    /// Ends a run that has no receipt (cancelled while queued, or lost).
    virtual result<void> end_without_receipt(const run_id& id, run_state state, std::string_view error_text) = 0;
    /// Asks for a cancel: a queued run ends at once; a running one is marked and its owner sees it. Answers the row.
    virtual result<run_row> request_cancel(const run_id& id) = 0;
    virtual result<bool> cancel_requested(const run_id& id) = 0;
    /// Runs that were running on this machine when an earlier process died.
    virtual result<std::vector<run_row>> running_on(const machine_id& machine) = 0;
    /// Running runs whose lease has run out.
    virtual result<std::vector<run_row>> expired_leases() = 0;

    virtual result<run_row> find_run(const run_id& id) = 0;
    virtual result<run_page> list_runs(const run_filter& filter) = 0;

    /// Adds a receipt that no run of this store made (import, upload).
    virtual result<void> add_receipt(const receipt_summary& summary, std::string_view file_bytes) = 0;
    virtual result<std::string> receipt_file(const receipt_id& id) = 0;
    virtual result<receipt_summary> find_receipt(const receipt_id& id) = 0;
    virtual result<receipt_page> list_receipts(const receipt_filter& filter) = 0;
    virtual result<std::optional<chain_head>> chain_head_of(const machine_id& machine) = 0;
};

inline constexpr int max_queued_runs = 1000;

}  // namespace assay
