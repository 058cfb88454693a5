// Wakes coroutines that wait for a change of shared state. One thread only: the io_context's.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <vector>

namespace assay {

/// A condition variable for coroutines. A waiter checks its condition, waits, and checks again.
class notifier {
  public:
    explicit notifier(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
    notifier(const notifier&) = delete;
    notifier& operator=(const notifier&) = delete;
    ~notifier() { notify(); }

    /// Wakes everyone who waits now.
    void notify() {
        auto waiting = std::move(waiting_);
        waiting_.clear();
        for (auto& timer : waiting) timer->cancel();
    }

    /// Returns at the next notify(), at `deadline`, or when the waiting coroutine is cancelled.
    boost::asio::awaitable<void> wait_until(std::chrono::steady_clock::time_point deadline) {
        // The list may be cleared while the wait is on its way back, so that both hold the timer.
        auto timer = std::make_shared<boost::asio::steady_timer>(executor_, deadline);
        std::erase_if(waiting_, [](const auto& other) { return other.use_count() == 1; });
        waiting_.push_back(timer);
        boost::system::error_code ignored;
        co_await timer->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }

  private:
    boost::asio::any_io_executor executor_;
    std::vector<std::shared_ptr<boost::asio::steady_timer>> waiting_;
};

}  // namespace assay
