#include "browser/process_exit.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/with_deadline.hpp"

#ifdef __linux__
#include <sys/syscall.h>
#else
#include <sys/wait.h>
#endif

namespace assay {

namespace asio = boost::asio;

#if defined(__linux__) && defined(SYS_pidfd_open)
namespace {

asio::awaitable<void> wait_readable(std::shared_ptr<asio::posix::stream_descriptor> descriptor) {
    boost::system::error_code ignored;
    co_await descriptor->async_wait(asio::posix::descriptor_base::wait_read,
                                    asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace
#endif

asio::awaitable<bool> wait_process_exit(asio::any_io_executor executor, pid_t process, std::chrono::milliseconds limit) {
#if defined(__linux__) && defined(SYS_pidfd_open)
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (handle >= 0) {
        using namespace asio::experimental::awaitable_operators;
        auto descriptor = std::make_shared<asio::posix::stream_descriptor>(executor, handle);
        // Named before they are raced: g++ 12 destroys temporaries of such an expression twice.
        auto readable = wait_readable(descriptor);
        auto time_up = sleep_for(limit);
        const auto outcome = co_await (std::move(readable) || std::move(time_up));
        co_return outcome.index() == 0;
    }
    if (errno == ESRCH) co_return true;
#endif
    const auto end = std::chrono::steady_clock::now() + limit;
    asio::steady_timer timer(executor);
    for (;;) {
#ifndef __linux__
        siginfo_t seen{};  // a zombie child still answers kill(pid, 0)
        if (::waitid(P_PID, static_cast<id_t>(process), &seen, WEXITED | WNOHANG | WNOWAIT) == 0 && seen.si_pid == process)
            co_return true;
#endif
        if (::kill(process, 0) != 0 && errno == ESRCH) co_return true;
        if (std::chrono::steady_clock::now() >= end) co_return false;
        timer.expires_after(std::chrono::milliseconds(10));
        boost::system::error_code stopped;
        co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, stopped));
        if (stopped) co_return false;
    }
}

bool process_has_ended(pid_t process) {
#if defined(__linux__) && defined(SYS_pidfd_open)
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (handle >= 0) {
        pollfd ended{handle, POLLIN, 0};
        const bool yes = ::poll(&ended, 1, 0) > 0;
        ::close(handle);
        return yes;
    }
#endif
    return ::kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace assay
