#include "browser/event_inbox.hpp"

namespace assay {

namespace asio = boost::asio;

void event_inbox::accept(std::string_view event_text) {
    if (failure_) return;
    auto event = parse_arm_event(event_text);
    if (!event) {
        fail(error{error_code::protocol_error, "the arm sent an event that its contract does not know: " + event.error().text(),
                   {}, {}, "bad-event"});
        return;
    }
    if (event->sequence != next_sequence_) {
        fail(error{error_code::protocol_error,
                   "an event of the arm was lost: number " + std::to_string(event->sequence) + " came where " +
                       std::to_string(next_sequence_) + " was due",
                   {}, {}, "lost-event"});
        return;
    }
    ++next_sequence_;
    if (events_.size() >= max_waiting_events) {
        fail(error{error_code::too_large, "the arm sent over " + std::to_string(max_waiting_events) + " events unread", {}, {},
                   "event-flood"});
        return;
    }
    if (auto* typed = std::get_if<arm_error_event>(&event->body); typed != nullptr && explain) explain(*typed);
    if (const auto* done = std::get_if<done_event>(&event->body)) measured_ = measured_ || done->phase == arm_phase::measure;
    events_.push_back(std::move(*event));
    changed_.notify();
}

void event_inbox::fail(error why) {
    if (failure_) return;
    failure_ = std::move(why);
    changed_.notify();
}

asio::awaitable<result<arm_event>> event_inbox::next(std::chrono::milliseconds limit, std::string what) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
        if (!events_.empty()) {
            arm_event event = std::move(events_.front());
            events_.pop_front();
            if (const auto* typed = std::get_if<arm_error_event>(&event.body))
                co_return error{error_code::arm_failed, typed->code + ": " + typed->message, {}, {}, typed->code};
            co_return event;
        }
        if (failure_) {
            error why = *failure_;
            co_return why;
        }
        if (std::chrono::steady_clock::now() >= deadline)
            co_return error{error_code::deadline_exceeded,
                            what + ": the arm said nothing for " + std::to_string(limit.count()) + " ms", {}, {}, "silence"};
        co_await changed_.wait_until(deadline);
    }
}

}  // namespace assay
