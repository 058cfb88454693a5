// An arm's events in order, and the failure that ended it: what both kinds of arm host wait on.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "browser/notifier.hpp"
#include "contract/arm_event.hpp"
#include "core/result.hpp"

namespace assay {

/// Events that may wait untaken: more means that nobody reads, which is a fault of ours or a runaway page.
inline constexpr std::size_t max_waiting_events = 100000;

/// Checks and keeps events, hands them out with a deadline. The first failure ends it, after the events that came before.
class event_inbox {
  public:
    explicit event_inbox(boost::asio::any_io_executor executor) : changed_(std::move(executor)) {}

    /// Takes one event's text. A text that is no event, or a gap in the sequence, is a failure (protocol_error).
    void accept(std::string_view event_text);
    /// Ends the arm; the first cause stays.
    void fail(error why);
    const std::optional<error>& failure() const { return failure_; }
    /// Whether `done` of the measured phase has come, taken or not.
    bool measured() const { return measured_; }

    /// The next event, waiting at most `limit`. A typed error of the arm is arm_failed, its code in `reason`. When the time
    /// is up: deadline_exceeded, reason "silence", saying `what` was waited for.
    boost::asio::awaitable<result<arm_event>> next(std::chrono::milliseconds limit, std::string what);

    /// Called with each typed error of the arm before it is queued, so that the host can find its cause.
    std::function<void(arm_error_event&)> explain;

  private:
    notifier changed_;
    std::deque<arm_event> events_;
    std::optional<error> failure_;
    std::uint64_t next_sequence_ = 0;
    bool measured_ = false;
};

}  // namespace assay
