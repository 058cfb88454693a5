// A coroutine's way to blocking work: the work runs on a work_executor, the coroutine goes on where it was.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "core/blocking_executor.hpp"
#include "core/result.hpp"

namespace assay {

namespace detail {

/// What the two threads share; it outlives a coroutine that was cancelled while the work still ran.
template <class T>
struct blocking_call {
    explicit blocking_call(boost::asio::any_io_executor executor)
        : done(executor, boost::asio::steady_timer::time_point::max()) {}
    boost::asio::steady_timer done;
    std::optional<T> value;
    std::exception_ptr failure;
};

}  // namespace detail

/// Runs `work()` (which answers a result<T>) on `pool`. An exception of the work is thrown here. When the pool takes no
/// more work the answer is queue_full; when the caller is cancelled it is cancelled, and the work's answer is dropped.
template <class Work>
boost::asio::awaitable<std::invoke_result_t<Work>> run_blocking(work_executor* pool, Work work) {
    using answer = std::invoke_result_t<Work>;
    const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
    auto call = std::make_shared<detail::blocking_call<answer>>(executor);
    const bool taken = pool->submit([call, executor, work = std::move(work)]() mutable {
        std::optional<answer> value;
        std::exception_ptr failure;
        try {
            value.emplace(work());
        } catch (...) {
            failure = std::current_exception();
        }
        // The answer is handed over on the coroutine's own executor, so that nothing is shared between threads.
        boost::asio::post(executor, [call, value = std::move(value), failure]() mutable {
            call->value = std::move(value);
            call->failure = failure;
            call->done.cancel();
        });
    });
    if (!taken) co_return error{error_code::queue_full, "The store has too much to do; try again in a moment"};
    boost::system::error_code ignored;
    co_await call->done.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    if (call->failure) std::rethrow_exception(call->failure);
    if (!call->value) co_return error{error_code::cancelled, "Stopped while the store was at work"};
    co_return std::move(*call->value);
}

}  // namespace assay
