// Turns schedules into queued runs when they are due.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "contract/schedule_document.hpp"
#include "core/blocking_executor.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "http/api.hpp"
#include "run/document_store.hpp"
#include "run/ports.hpp"

namespace assay::http {

/// The moment a schedule is due next, as text; absent for a paused one and for one that is never due.
std::optional<std::string> next_due_of(const schedule_document& schedule, utc_time after);
/// Checks the cron expression and the time zone; errors point at /cron or /time_zone.
result<void> check_schedule_times(const schedule_document& schedule);

/// Decides and enqueues; no thread of its own. Every call blocks on the store: call from the store's thread.
class schedule_keeper {
  public:
    /// Everything outlives the keeper; `runs` may be null.
    schedule_keeper(document_store& documents, run_store& store, run_listener* runs, const clock& time,
                    random_source& random)
        : documents_(documents), store_(store), runs_(runs), time_(time), random_(random) {}

    result<std::vector<schedule_document>> list();
    result<schedule_document> find(std::string_view id);
    result<schedule_document> add(schedule_document schedule);
    result<schedule_document> set_paused(std::string_view id, bool paused);
    result<void> remove(std::string_view id);

    /// Fires what is due: one time for each schedule, whatever was missed. A due time is fired once even by several
    /// services over one store, since its runs carry the idempotency key of schedule and due time. Answers how many
    /// runs were asked for.
    result<int> tick();
    /// Asks for the schedule's runs now, due or not; answers their ids.
    result<std::vector<std::string>> run_now(std::string_view id);

  private:
    result<std::vector<std::string>> enqueue(const schedule_document& schedule, const std::string& occasion);
    result<void> save(const schedule_document& schedule);

    document_store& documents_;
    run_store& store_;
    run_listener* runs_;
    const clock& time_;
    random_source& random_;
};

/// Calls tick() every `interval` on the store's thread until it is destroyed.
class schedule_loop {
  public:
    schedule_loop(schedule_keeper& keeper, work_executor& store_work, std::chrono::milliseconds interval);
    ~schedule_loop();
    schedule_loop(const schedule_loop&) = delete;
    schedule_loop& operator=(const schedule_loop&) = delete;

  private:
    void loop(std::chrono::milliseconds interval);

    schedule_keeper& keeper_;
    work_executor& store_work_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;
    bool ticking_ = false;
    std::thread thread_;
};

}  // namespace assay::http
