#include "http/scheduler.hpp"

#include <spdlog/spdlog.h>

#include "schedule/due_time.hpp"

namespace assay::http {
namespace {

constexpr std::size_t max_schedules = 500;

struct schedule_times {
    cron_expression cron;
    time_zone zone;
};

result<schedule_times> times_of(const schedule_document& schedule) {
    auto cron = cron_expression::parse(schedule.cron);
    if (!cron) {
        auto cause = cron.error();
        cause.field = "/cron";
        return cause;
    }
    auto zone = load_time_zone(schedule.time_zone);
    if (!zone) {
        auto cause = zone.error();
        cause.code = error_code::invalid_argument;
        cause.field = "/time_zone";
        return cause;
    }
    return schedule_times{std::move(*cron), std::move(*zone)};
}

sys_seconds whole_seconds(utc_time time) {
    return std::chrono::floor<std::chrono::seconds>(time);
}

}  // namespace

std::optional<std::string> next_due_of(const schedule_document& schedule, utc_time after) {
    if (schedule.paused) return std::nullopt;
    const auto times = times_of(schedule);
    if (!times) return std::nullopt;
    const auto next = times->cron.next_after(whole_seconds(after), times->zone);
    return next ? std::optional(format_utc(*next)) : std::nullopt;
}

result<void> check_schedule_times(const schedule_document& schedule) {
    if (const auto times = times_of(schedule); !times) return times.error();
    return {};
}

result<std::vector<schedule_document>> schedule_keeper::list() {
    auto texts = documents_.list(schedules_kind);
    if (!texts) return texts.error();
    std::vector<schedule_document> schedules;
    for (const auto& [id, text] : *texts) {
        auto schedule = parse_stored_schedule(text);
        // One damaged document must not stop the others.
        if (schedule)
            schedules.push_back(std::move(*schedule));
        else
            spdlog::error("schedule {} cannot be read: {}", id, schedule.error().text());
    }
    return schedules;
}

result<schedule_document> schedule_keeper::find(std::string_view id) {
    auto text = documents_.get(schedules_kind, id);
    if (!text) return text.error();
    if (!*text) return error{error_code::not_found, "There is no schedule '" + std::string(id) + "'"};
    return parse_stored_schedule(**text);
}

result<schedule_document> schedule_keeper::add(schedule_document schedule) {
    if (auto checked = check_schedule_times(schedule); !checked) return checked.error();
    auto known = documents_.list(schedules_kind);
    if (!known) return known.error();
    if (known->size() >= max_schedules)
        return error{error_code::conflict, "There are " + std::to_string(max_schedules) + " schedules already"};
    schedule.id = make_sortable_id(time_, random_);
    schedule.created_at = format_utc(time_.now());
    schedule.checked_until = schedule.created_at;
    if (auto saved = save(schedule); !saved) return saved.error();
    return schedule;
}

result<schedule_document> schedule_keeper::set_paused(std::string_view id, bool paused) {
    auto schedule = find(id);
    if (!schedule || schedule->paused == paused) return schedule;
    schedule->paused = paused;
    // What came due during the pause was not missed: it was not wanted.
    if (!paused) schedule->checked_until = format_utc(time_.now());
    if (auto saved = save(*schedule); !saved) return saved.error();
    return schedule;
}

result<void> schedule_keeper::remove(std::string_view id) {
    if (auto schedule = find(id); !schedule) return schedule.error();
    return documents_.remove(schedules_kind, id);
}

result<int> schedule_keeper::tick() {
    auto schedules = list();
    if (!schedules) return schedules.error();
    const auto now = whole_seconds(time_.now());
    int asked = 0;
    for (auto& schedule : *schedules) {
        if (schedule.paused) continue;
        const auto times = times_of(schedule);
        const auto checked = parse_utc(schedule.checked_until);
        if (!times || !checked) continue;
        const auto decision = decide_due(times->cron, times->zone, whole_seconds(*checked), now);
        if (!decision.fire) continue;
        const auto due = format_utc(*decision.fire);
        const auto enqueued = enqueue(schedule, due);
        if (!enqueued) {
            // The due time stays open; its runs that are in the queue already are not doubled by the next try.
            spdlog::warn("schedule {} ({}), due {}: {}", schedule.name, schedule.id, due, enqueued.error().text());
            continue;
        }
        asked += static_cast<int>(enqueued->size());
        schedule.checked_until = due;
        schedule.last_due = due;
        schedule.last_fired = format_utc(time_.now());
        schedule.missed = decision.missed;
        if (auto saved = save(schedule); !saved) return saved.error();
        spdlog::info("schedule {} ({}), due {}: {} runs queued, {} due times left out", schedule.name, schedule.id, due,
                     enqueued->size(), decision.missed);
    }
    return asked;
}

result<std::vector<std::string>> schedule_keeper::run_now(std::string_view id) {
    auto schedule = find(id);
    if (!schedule) return schedule.error();
    return enqueue(*schedule, "now-" + make_sortable_id(time_, random_));
}

result<std::vector<std::string>> schedule_keeper::enqueue(const schedule_document& schedule,
                                                          const std::string& occasion) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < schedule.requests.size(); ++i) {
        const auto& request = schedule.requests[i];
        run_row row;
        row.id = make_sortable_id(time_, random_);
        row.request_text = run_request_text(request);
        row.label = request.label;
        row.created_at = format_utc(time_.now());
        row.idempotency_key = "schedule/" + schedule.id + "/" + occasion + "/" + std::to_string(i);
        row.schedule_id = schedule.id;
        row.required_labels = schedule.labels;
        const auto stored = store_.enqueue(row);
        if (!stored) return stored.error();
        ids.push_back(stored->id);
        if (stored->id == row.id && runs_) runs_->run_queued(run_id(stored->id));
    }
    return ids;
}

result<void> schedule_keeper::save(const schedule_document& schedule) {
    return documents_.put(schedules_kind, schedule.id, stored_schedule_text(schedule));
}

schedule_loop::schedule_loop(schedule_keeper& keeper, work_executor& store_work, std::chrono::milliseconds interval)
    : keeper_(keeper), store_work_(store_work), thread_([this, interval] { loop(interval); }) {}

schedule_loop::~schedule_loop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ticking_; });
}

void schedule_loop::loop(std::chrono::milliseconds interval) {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (!ticking_) {
            ticking_ = store_work_.submit([this] {
                try {
                    if (auto ticked = keeper_.tick(); !ticked) spdlog::error("schedules: {}", ticked.error().text());
                } catch (const std::exception& failure) {
                    spdlog::error("schedules: {}", failure.what());
                }
                const std::lock_guard done(mutex_);
                ticking_ = false;
                changed_.notify_all();
            });
        }
        changed_.wait_for(lock, interval, [this] { return stopping_; });
    }
}

}  // namespace assay::http
