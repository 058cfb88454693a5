#include "lab/progress_forwarder.hpp"

#include "contract/lab_messages.hpp"

namespace assay::lab {
namespace {

constexpr std::size_t max_waiting_events = 2000;
constexpr auto collect_for = std::chrono::milliseconds(500);

}  // namespace

progress_forwarder::progress_forwarder(hub_client* client) : client_(client), thread_([this] { send_loop(); }) {}

progress_forwarder::~progress_forwarder() {
    {
        const std::lock_guard held(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    client_->interrupt();
    thread_.join();
}

void progress_forwarder::publish(run_progress progress) {
    const std::lock_guard held(mutex_);
    if (events_.size() == max_waiting_events) events_.pop_front();
    events_.push_back(std::move(progress));
    changed_.notify_all();
}

void progress_forwarder::send_loop() {
    std::unique_lock held(mutex_);
    while (!stopping_) {
        changed_.wait(held, [this] { return stopping_ || !events_.empty(); });
        changed_.wait_for(held, collect_for, [this] { return stopping_; });
        auto events = std::exchange(events_, {});
        held.unlock();
        send(events);
        held.lock();
    }
}

void progress_forwarder::send(const std::deque<run_progress>& events) {
    for (std::size_t at = 0; at < events.size();) {
        progress_batch batch;
        const std::string& run = events[at].run;
        for (; at < events.size() && events[at].run == run && batch.events.size() < max_events_a_batch; ++at)
            batch.events.push_back({events[at].kind, events[at].json_text});
        // A lost batch is a gap in the live picture only.
        if (!client_->call_json("POST", "/api/v1/leases/" + run + "/events", progress_batch_text(batch),
                                std::chrono::seconds(5)))
            return;
    }
}

}  // namespace assay::lab
