#include "retention_loop.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>

#include "run/measurement_lock.hpp"

namespace assay {
namespace {

constexpr auto first_look = std::chrono::minutes(1);
constexpr auto look_again_when_busy = std::chrono::minutes(1);
constexpr auto interval = std::chrono::hours(24);

}  // namespace

result<retention_report> apply_retention_to_home(const std::string& store_url, const home_layout& home,
                                                 const retention_rules& rules, const clock& time,
                                                 const std::function<bool()>& stop) {
    auto report = apply_retention(store_url, rules, time, stop);
    if (!report) return report;
    for (const auto& id : report->receipts) {
        std::error_code failure;
        std::filesystem::remove(home.receipts() / (id + ".assay.json"), failure);
        if (failure) spdlog::warn("the file of receipt {} could not be removed: {}", id, failure.message());
    }
    return report;
}

retention_loop::retention_loop(std::string store_url, home_layout home, const clock& time, retention_rules rules)
    : store_url_(std::move(store_url)),
      home_(std::move(home)),
      time_(time),
      rules_(rules),
      thread_([this] { loop(); }) {}

retention_loop::~retention_loop() {
    {
        const std::lock_guard held(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void retention_loop::configure(retention_rules rules) {
    const std::lock_guard held(mutex_);
    rules_ = rules;
}

bool retention_loop::stopping() const {
    const std::lock_guard held(mutex_);
    return stopping_;
}

void retention_loop::loop() {
    std::unique_lock lock(mutex_);
    auto next = std::chrono::steady_clock::now() + first_look;
    while (!stopping_) {
        changed_.wait_until(lock, next, [this] { return stopping_; });
        if (stopping_) return;
        const retention_rules rules = rules_;
        lock.unlock();
        const bool done = apply(rules);
        lock.lock();
        if (done)
            next = std::chrono::steady_clock::now() + interval;
        else
            next = std::chrono::steady_clock::now() + look_again_when_busy;
    }
}

/// False when something is measured just now.
bool retention_loop::apply(const retention_rules& rules) {
    if (!rules.receipts_days && !rules.runs_days) return true;
    const auto lock = measurement_lock::try_acquire(home_.measurement_lock());
    if (!lock || !*lock) return false;
    try {
        const auto report = apply_retention_to_home(store_url_, home_, rules, time_, [this] { return stopping(); });
        if (!report)
            spdlog::error("what is old could not be removed: {}", report.error().text());
        else if (!report->receipts.empty() || report->runs > 0)
            spdlog::warn("removed {} old receipts and {} old runs", report->receipts.size(), report->runs);
    } catch (const std::exception& failure) {
        spdlog::error("what is old could not be removed: {}", failure.what());
    }
    return true;
}

}  // namespace assay
