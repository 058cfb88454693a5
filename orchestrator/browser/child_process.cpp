#include "browser/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "browser/process_exit.hpp"
#include "browser/process_table.hpp"

namespace assay {

std::string child_status::text() const {
    if (signal) return "signal " + std::to_string(*signal);
    return "exit status " + std::to_string(exit_code.value_or(-1));
}

namespace {

void set_non_blocking(const unique_descriptor& descriptor) {
    ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
#ifdef F_SETPIPE_SZ
    ::fcntl(descriptor.get(), F_SETPIPE_SZ, 1 << 20);  // large replies in fewer wake-ups; a refusal does no harm
#endif
}

/// What the child's protocol pipes and its other streams are wired to.
std::vector<given_descriptor> wire(child_wiring wiring, int in, int out, int errors, int null_device) {
    if (wiring == child_wiring::descriptors_3_and_4)
        return {{errors, 2}, {null_device, 0}, {null_device, 1}, {in, 3}, {out, 4}};
    return {{errors, 2}, {in, 0}, {out, 1}};
}

}  // namespace

result<std::unique_ptr<child_process>> child_process::start(boost::asio::any_io_executor executor,
                                                            const child_specification& specification) {
    auto to_child = make_pipe();
    if (!to_child) return to_child.error();
    auto from_child = make_pipe();
    if (!from_child) return from_child.error();
    auto errors = make_pipe();
    if (!errors) return errors.error();
    const unique_descriptor null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
    program_start plan{
        specification.program, specification.arguments, specification.environment, {}, specification.working_directory};
    plan.descriptors = wire(specification.wiring, to_child->read_end.get(), from_child->write_end.get(),
                            errors->write_end.get(), null_device.get());
    const auto started = start_program(plan);
    if (!started) {
        error cause = started.error();
        cause.code = error_code::browser_launch_failed;
        return cause;
    }
    std::unique_ptr<child_process> child(new child_process(std::move(executor), *started));
    child->writer_ = std::move(to_child->write_end);
    child->reader_ = std::move(from_child->read_end);
    child->standard_error_ = std::move(errors->read_end);
    set_non_blocking(child->writer_);
    set_non_blocking(child->reader_);
    set_non_blocking(child->standard_error_);
    return child;
}

child_process::~child_process() {
    signal_group(SIGKILL);
    // A killed process ends at once unless the kernel holds it; half a second bounds that.
    for (int attempt = 0; attempt < 100 && !poll(); ++attempt) ::usleep(5000);
    reap_group();
}

void child_process::signal_group(int signal_number) {
    ::kill(-pid_, signal_number);
}

const std::optional<child_status>& child_process::poll() {
    if (status_) return status_;
    int raw = 0;
    const pid_t got = ::waitpid(pid_, &raw, WNOHANG);
    if (got == pid_) {
        status_.emplace();
        if (WIFSIGNALED(raw)) status_->signal = WTERMSIG(raw);
        if (WIFEXITED(raw)) status_->exit_code = WEXITSTATUS(raw);
    } else if (got < 0 && errno == ECHILD) {
        status_.emplace();  // someone else reaped it: how it ended is not known
    }
    return status_;
}

boost::asio::awaitable<bool> child_process::wait_exit(std::chrono::milliseconds limit) {
    if (poll()) co_return true;
    co_await wait_process_exit(executor_, pid_, limit);
    co_return poll().has_value();
}

bool child_process::group_is_gone() {
    reap_group();
    // Members that another process has to reap, PID 1 say, hold nothing any more; it may take its time.
    return !group_has_running_member(pid_);
}

void child_process::reap_group() {
    // The leader's own status is kept by poll(); this takes the rest.
    poll();
    while (::waitpid(-pid_, nullptr, WNOHANG) > 0) {
    }
}

}  // namespace assay
