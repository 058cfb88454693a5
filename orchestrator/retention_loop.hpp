// Removes what is old once a day, never while something is measured.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "core/clock.hpp"
#include "run/home.hpp"
#include "store/retention.hpp"

namespace assay {

/// A thread that applies these rules, and what each schedule says of its own runs, a minute after the start and then
/// every day. Removing and VACUUM load the machine, so
/// that it holds the measurement lock meanwhile, and waits for it as a run does.
class retention_loop {
  public:
    /// `time` outlives the loop.
    retention_loop(std::string store_url, home_layout home, const clock& time, retention_rules rules);
    ~retention_loop();
    retention_loop(const retention_loop&) = delete;
    retention_loop& operator=(const retention_loop&) = delete;
    /// For the next time. Safe from any thread.
    void configure(retention_rules rules);

  private:
    void loop();
    bool apply(retention_rules rules);
    bool stopping() const;

    const std::string store_url_;
    const home_layout home_;
    const clock& time_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    retention_rules rules_;
    bool stopping_ = false;
    std::thread thread_;
};

/// Applies the rules now: in the store, and to the receipt files of this home.
result<retention_report> apply_retention_to_home(const std::string& store_url, const home_layout& home,
                                                 const retention_rules& rules, const clock& time,
                                                 const std::function<bool()>& stop = {});

}  // namespace assay
