#include "browser/child_process.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>

using namespace assay;

namespace {

/// A process of ours whose own child has joined `group`, has ended, and is not reaped: as under a PID 1 that takes its time.
pid_t parent_of_unreaped_member(pid_t group) {
    std::array<int, 2> ready{};
    REQUIRE_EQ(::pipe(ready.data()), 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
        ::setpgid(0, 0);
        const pid_t member = ::fork();
        if (member == 0) ::_exit(::setpgid(0, group) == 0 ? 0 : 1);
        siginfo_t ended{};
        ::waitid(P_PID, static_cast<id_t>(member), &ended, WEXITED | WNOWAIT);
        const char byte = 1;
        [[maybe_unused]] const auto written = ::write(ready[1], &byte, 1);
        for (;;) ::pause();
    }
    char byte = 0;
    [[maybe_unused]] const auto got = ::read(ready[0], &byte, 1);
    for (const int end : ready) ::close(end);
    return parent;
}

bool within(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        ::usleep(2000);
    }
    return true;
}

}  // namespace

TEST_CASE("a group whose last members have ended is gone, whoever has to reap them") {
    boost::asio::io_context context;
    child_specification specification;
    specification.program = "sleep";
    specification.arguments = {"60"};
    const auto child = child_process::start(context.get_executor(), specification).value();
    const pid_t group = child->pid();
    CHECK_FALSE(child->group_is_gone());
    const pid_t stranger = parent_of_unreaped_member(group);
    child->signal_group(SIGKILL);
    CHECK(within(std::chrono::seconds(5), [&] { return child->poll().has_value(); }));
    CHECK_EQ(::kill(-group, 0), 0);  // the member is still to be reaped
    CHECK(within(std::chrono::seconds(5), [&] { return child->group_is_gone(); }));
    ::kill(stranger, SIGKILL);
    ::waitpid(stranger, nullptr, 0);
}
