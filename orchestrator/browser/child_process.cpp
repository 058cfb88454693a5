#include "browser/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "browser/process_exit.hpp"

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

extern char** environ;

namespace assay {

void unique_descriptor::reset(int descriptor) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = descriptor;
}

std::string child_status::text() const {
    if (signal) return "signal " + std::to_string(*signal);
    return "exit status " + std::to_string(exit_code.value_or(-1));
}

namespace {

/// Everything here lies above the descriptors that the child wires by number.
constexpr int first_free_descriptor = 20;

struct descriptor_pair {
    unique_descriptor read_end, write_end;
};

result<descriptor_pair> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0)
        return error{error_code::io_error, std::string("no pipe for a child process: ") + std::strerror(errno)};
    descriptor_pair pair;
    unique_descriptor low_read(ends[0]), low_write(ends[1]);
    pair.read_end.reset(::fcntl(low_read.get(), F_DUPFD_CLOEXEC, first_free_descriptor));
    pair.write_end.reset(::fcntl(low_write.get(), F_DUPFD_CLOEXEC, first_free_descriptor));
    if (!pair.read_end.valid() || !pair.write_end.valid())
        return error{error_code::io_error, std::string("no descriptor for a child process: ") + std::strerror(errno)};
    return pair;
}

void set_non_blocking(const unique_descriptor& descriptor) {
    ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
#ifdef F_SETPIPE_SZ
    ::fcntl(descriptor.get(), F_SETPIPE_SZ, 1 << 20);  // large replies in fewer wake-ups; a refusal does no harm
#endif
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& changes) {
    std::map<std::string, std::string> merged;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const auto equals = text.find('=');
        if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
    }
    for (const auto& [name, value] : changes) merged[name] = value;
    std::vector<std::string> lines;
    lines.reserve(merged.size());
    for (const auto& [name, value] : merged) lines.push_back(name + "=" + value);
    return lines;
}

std::string find_on_path(const std::string& program) {
    if (program.find('/') != std::string::npos) return program;
    const char* path = ::getenv("PATH");
    std::string rest = path != nullptr ? path : "/usr/bin:/bin";
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        const std::string candidate = rest.substr(0, colon) + "/" + program;
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
        rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
    return program;
}

std::vector<char*> pointers_to(std::vector<std::string>& lines) {
    std::vector<char*> pointers;
    pointers.reserve(lines.size() + 1);
    for (auto& line : lines) pointers.push_back(line.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// What the child does between fork and exec: async-signal-safe calls only, since another thread may hold any lock.
struct child_plan {
    const char* program;
    char* const* arguments;
    char* const* environment;
    int protocol_in, protocol_out, standard_error, null_device, status;
    child_wiring wiring;
    const char* working_directory;  // empty: ours
    pid_t parent;
};

[[noreturn]] void become(const child_plan& plan) {
    ::setpgid(0, 0);
#ifdef __linux__
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(127);  // the parent died before the line above
#endif
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGQUIT}) ::signal(number, SIG_DFL);
    ::dup2(plan.standard_error, 2);
    if (plan.wiring == child_wiring::descriptors_3_and_4) {
        ::dup2(plan.null_device, 0);
        ::dup2(plan.null_device, 1);
        ::dup2(plan.protocol_in, 3);
        ::dup2(plan.protocol_out, 4);
    } else {
        ::dup2(plan.protocol_in, 0);
        ::dup2(plan.protocol_out, 1);
    }
#if defined(__linux__) && defined(SYS_close_range)
    // Descriptors that a library opened without close-on-exec must not live on in the child.
    const unsigned first = plan.wiring == child_wiring::descriptors_3_and_4 ? 5 : 3;
    ::syscall(SYS_close_range, first, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
#endif
    if (*plan.working_directory != '\0' && ::chdir(plan.working_directory) != 0) {
        const int why = errno;
        [[maybe_unused]] const auto written = ::write(plan.status, &why, sizeof why);
        ::_exit(127);
    }
    ::execve(plan.program, plan.arguments, plan.environment);
    const int why = errno;
    [[maybe_unused]] const auto written = ::write(plan.status, &why, sizeof why);
    ::_exit(127);
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
    auto status = make_pipe();
    if (!status) return status.error();
    unique_descriptor null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));

    // Absolute, since the child may start in another folder.
    std::error_code no_folder;
    const std::string program = std::filesystem::absolute(find_on_path(specification.program), no_folder).string();
    std::vector<std::string> arguments{program};
    arguments.insert(arguments.end(), specification.arguments.begin(), specification.arguments.end());
    auto environment = merged_environment(specification.environment);
    const auto argument_pointers = pointers_to(arguments);
    const auto environment_pointers = pointers_to(environment);
    const child_plan plan{program.c_str(), argument_pointers.data(), environment_pointers.data(), to_child->read_end.get(),
                          from_child->write_end.get(), errors->write_end.get(), null_device.get(),
                          status->write_end.get(), specification.wiring,
                          specification.working_directory.c_str(), ::getpid()};

    const pid_t pid = ::fork();
    if (pid < 0)
        return error{error_code::browser_launch_failed, "'" + program + "' was not started: " + std::strerror(errno)};
    if (pid == 0) become(plan);
    ::setpgid(pid, pid);  // both sides do it, so that whoever comes first wins
    to_child->read_end.reset();
    from_child->write_end.reset();
    errors->write_end.reset();
    status->write_end.reset();

    std::unique_ptr<child_process> child(new child_process(std::move(executor), pid));
    int why = 0;
    ssize_t got = 0;
    do got = ::read(status->read_end.get(), &why, sizeof why);
    while (got < 0 && errno == EINTR);
    if (got == static_cast<ssize_t>(sizeof why))
        return error{error_code::browser_launch_failed, "'" + program + "' was not started: " + std::strerror(why), {},
                     "Give the path of an executable file."};

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

void child_process::signal_group(int signal_number) { ::kill(-pid_, signal_number); }

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
    return ::kill(-pid_, 0) != 0 && errno == ESRCH;
}

void child_process::reap_group() {
    // The leader's own status is kept by poll(); this takes the rest.
    poll();
    while (::waitpid(-pid_, nullptr, WNOHANG) > 0) {
    }
}

}  // namespace assay
