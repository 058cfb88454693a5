#include "retention_loop.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>

#include "contract/schedule_document.hpp"
#include "run/measurement_lock.hpp"
#include "store/open_store.hpp"

namespace assay {
namespace {

constexpr auto first_look = std::chrono::minutes(1);
constexpr auto look_again_when_busy = std::chrono::minutes(1);
constexpr auto interval = std::chrono::hours(24);

/// What the store's schedules say of their own runs.
result<std::vector<schedule_retention>> schedule_rules(const std::string& store_url, const clock& time) {
    const auto documents = open_document_store(store_url, time);
    if (!documents) return documents.error();
    const auto texts = (*documents)->list(schedules_kind);
    if (!texts) return texts.error();
    std::vector<schedule_retention> out;
    for (const auto& [id, text] : *texts) {
        const auto schedule = parse_stored_schedule(text);
        if (!schedule) return schedule.error();
        if (schedule->keep_days) out.push_back({id, *schedule->keep_days});
    }
    return out;
}

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
    : store_url_(std::move(store_url)), home_(std::move(home)), time_(time), rules_(rules), thread_([this] {
          loop();
      }) {}

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
bool retention_loop::apply(retention_rules rules) {
    const auto lock = measurement_lock::try_acquire(home_.measurement_lock());
    if (!lock || !*lock) return false;
    try {
        auto of_schedules = schedule_rules(store_url_, time_);
        if (!of_schedules) {
            // Without them, what a schedule wants kept would go with the rest.
            spdlog::error("what is old is not removed, the schedules cannot be read: {}", of_schedules.error().text());
            return true;
        }
        rules.schedules = std::move(*of_schedules);
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
