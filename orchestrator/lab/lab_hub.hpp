// The hub's side of a lab: hands runs to machines that ask, takes their receipts, notices those that are lost.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contract/lab_messages.hpp"
#include "core/clock.hpp"
#include "core/http_message.hpp"
#include "core/random.hpp"
#include "lab/clock_watch.hpp"
#include "run/lab_ports.hpp"
#include "run/ports.hpp"
#include "run/verify_receipt.hpp"

namespace assay::lab {

/// What the hub works with; everything outlives it. `runs` and `machines` are used from the store's thread and from the
/// hub's own, so both must be safe for that.
struct hub_services {
    run_store* runs = nullptr;
    lab_store* machines = nullptr;
    progress_sink* progress = nullptr;  ///< may be null
    const clock* time = nullptr;
    random_source* random = nullptr;
    /// The shipped policies, by which the gate is asked again of every receipt; absent: its reasons stand as they came.
    std::optional<std::filesystem::path> policies;
    bool trust_at_sight = true;  ///< false: an administrator approves each machine
    std::chrono::seconds lease{60};
    std::chrono::milliseconds look{250};          ///< how often waiting requests are tried without news
    std::chrono::milliseconds reap_every{5'000};  ///< how often lost machines are looked for
};

inline constexpr std::size_t max_waiting_machines = 2000;

/// Owns one thread, which alone gives out runs. The destructor answers all that wait with "nothing".
class lab_hub {
  public:
    explicit lab_hub(hub_services services);
    ~lab_hub();
    lab_hub(const lab_hub&) = delete;
    lab_hub& operator=(const lab_hub&) = delete;

    /// The endpoints to add to the server; they refer to this hub.
    std::vector<http_endpoint> endpoints();
    /// There may be a run to give. From any thread.
    void wake();
    /// How many machines wait for work.
    std::size_t waiting() const;

  private:
    struct waiting_request {
        std::string machine;
        std::chrono::steady_clock::time_point until;
        respond_function respond;
        bool looked = false;  ///< work was looked for since it came
    };

    void ask_for_work(http_request request, respond_function respond);
    void serve_waiting();
    void give_work(std::deque<waiting_request>& requests);
    void reap();
    /// When lost machines are looked for next, looking for them now where that is due.
    std::chrono::steady_clock::time_point reap_when_due(std::chrono::steady_clock::time_point due);
    /// A run for the machine, none, or why it gets none.
    result<std::optional<run_row>> find_work(const std::string& machine);

    http_response take_registration(const http_request& request);
    http_response show_machines(const http_request& request);
    http_response change_machine(const http_request& request);
    http_response remove_machine(const http_request& request);
    http_response take_heartbeat(const http_request& request);
    http_response take_events(const http_request& request);
    http_response show_upload(const http_request& request);
    http_response take_upload_part(const http_request& request);
    http_response take_receipt(const http_request& request);
    http_response take_end(const http_request& request);
    /// Whether a delivered file is that run's, signed by that machine, and says what its samples say; the first reason
    /// not.
    result<receipt_verification> examine(std::string_view file_bytes, const machine_row& machine,
                                         const std::string& run) const;
    result<void> store_receipt(const run_id& id, const receipt_delivery& delivery);

    hub_services services_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<waiting_request> waiting_;
    bool news_ = false, stopping_ = false;
    clock_watch clock_watch_{std::chrono::seconds(5)};  ///< of the hub's thread
    std::thread thread_;
};

}  // namespace assay::lab
