// Every wait ends: a coroutine raced against a timer. Boost 1.81 has no cancel_after.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "core/result.hpp"

namespace assay {

/// Waits `duration`; ends early, without an exception, when cancelled.
inline boost::asio::awaitable<void> sleep_for(std::chrono::steady_clock::duration duration) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, duration);
    boost::system::error_code ignored;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

/// Runs `work` for at most `limit`. When the time is up the work is cancelled (its own cancellation must be prompt)
/// and the result is deadline_exceeded with a sentence that says what was waited for.
template <class T>
boost::asio::awaitable<result<T>> with_deadline(boost::asio::awaitable<result<T>> work,
                                                std::chrono::steady_clock::duration limit, std::string what) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto outcome = co_await (std::move(work) || sleep_for(limit));
    if (outcome.index() == 0) co_return std::get<0>(std::move(outcome));
    const auto seconds = std::chrono::duration<double>(limit).count();
    std::string text = std::to_string(seconds);
    text.resize(text.find('.') + 2);
    co_return error{error_code::deadline_exceeded, what + " did not end within " + text + " s", {}, {}, "silence"};
}

}  // namespace assay
