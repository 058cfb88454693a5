// Runs one coroutine to its end on an io_context of its own, as every test of this room needs.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <stdexcept>

namespace assay::test {

/// The coroutine's value; its exception is thrown here. What it left running is run until nothing is left.
template <class T>
T run_task(boost::asio::io_context& context, boost::asio::awaitable<T> work) {
    std::optional<T> value;
    std::exception_ptr failure;
    boost::asio::co_spawn(context, std::move(work), [&](std::exception_ptr thrown, T result) {
        failure = thrown;
        value.emplace(std::move(result));
    });
    context.restart();
    context.run();
    if (failure) std::rethrow_exception(failure);
    if (!value) throw std::logic_error("the coroutine never ended");
    return std::move(*value);
}

}  // namespace assay::test
