// Tells the world that a run has ended: webhooks and command hooks, on a thread of its own, after the measurement.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client/http_client.hpp"
#include "contract/progress.hpp"
#include "contract/run_notice.hpp"
#include "contract/server_config.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "run/document_store.hpp"
#include "run/ports.hpp"

namespace assay::notify {

struct notifier_settings {
    std::vector<configured_webhook> webhooks;
    std::vector<configured_hook> hooks;
};

/// What the notifier works with; everything outlives it.
struct notifier_services {
    run_store* store = nullptr;
    document_store* documents = nullptr;
    const clock* time = nullptr;
    random_source* random = nullptr;
    progress_sink* next = nullptr;  ///< every event goes on to it
    std::string receipts_folder;    ///< where this machine's receipts lie as ID.assay.json
    std::string scratch_folder;     ///< for a receipt that another machine made, while a hook reads it
    /// Before the attempt that follows `attempts`; retry_pause() unless a test has less time.
    std::function<std::chrono::milliseconds(int attempts)> pause = {};
};

inline constexpr std::size_t max_waiting_news = 1000;  ///< ended runs not looked at yet; the oldest is dropped beyond
inline constexpr std::size_t max_undelivered = 500;    ///< given-up notices that are kept; the oldest is dropped beyond

/// Document kinds.
inline constexpr std::string_view waiting_notices = "notices";
inline constexpr std::string_view undelivered_notices = "undelivered";

/// A progress sink between the runs and the live events: a "done" event is noted, and the thread does the rest. A notice is
/// stored before its first attempt, so that it survives the service; it reaches its receiver at least once.
class run_notifier final : public progress_sink {
  public:
    run_notifier(notifier_services services, notifier_settings settings);
    /// Ends a hook and a delivery in progress; what waits is taken up at the next start.
    ~run_notifier() override;
    run_notifier(const run_notifier&) = delete;
    run_notifier& operator=(const run_notifier&) = delete;

    void publish(run_progress progress) override;
    /// For what follows. Safe from any thread.
    void configure(notifier_settings settings);

  private:
    struct pending {
        run_notice notice;
        std::chrono::steady_clock::time_point due;
    };

    void work_loop();
    void load_waiting();
    void tell(const std::string& run, const std::string& progress_json);
    void run_hooks(const run_news& news, const std::vector<configured_hook>& hooks);
    void try_due();
    void attempt(run_notice notice);
    void give_up(run_notice notice, std::string why);
    bool stopping() const;
    notifier_settings settings() const;

    const notifier_services services_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    notifier_settings settings_;
    std::deque<std::pair<std::string, std::string>> news_;  ///< run, data of its "done" event
    bool stopping_ = false;
    client::http_client* delivering_ = nullptr;
    std::map<std::string, pending> pending_;  ///< by notice id; of the thread alone
    std::thread thread_;
};

}  // namespace assay::notify
