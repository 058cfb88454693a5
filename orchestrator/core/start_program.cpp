#include "core/start_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

extern char** environ;

namespace assay {
namespace {

/// Everything of ours lies above the descriptors that the child is given by number.
constexpr int first_free_descriptor = 20;
constexpr int standard_streams = 3;

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
    const given_descriptor* descriptors;
    std::size_t descriptor_count;
    int status;
    unsigned first_closed;
    const char* working_directory;  // empty: ours
    pid_t parent;
};

[[noreturn]] void give_up(const child_plan& plan) {
    const int why = errno;
    [[maybe_unused]] const auto written = ::write(plan.status, &why, sizeof why);
    ::_exit(127);
}

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
    for (std::size_t i = 0; i < plan.descriptor_count; ++i)
        ::dup2(plan.descriptors[i].ours, plan.descriptors[i].number);
#if defined(__linux__) && defined(SYS_close_range)
    // Descriptors that a library opened without close-on-exec must not live on in the child.
    ::syscall(SYS_close_range, plan.first_closed, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
#endif
    if (*plan.working_directory != '\0' && ::chdir(plan.working_directory) != 0) give_up(plan);
    ::execve(plan.program, plan.arguments, plan.environment);
    give_up(plan);
}

}  // namespace

void unique_descriptor::reset(int descriptor) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = descriptor;
}

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

result<pid_t> start_program(const program_start& start) {
    auto status = make_pipe();
    if (!status) return status.error();
    // Absolute, since the child may start in another folder.
    std::error_code no_folder;
    const std::string program = std::filesystem::absolute(find_on_path(start.program), no_folder).string();
    std::vector<std::string> arguments{program};
    arguments.insert(arguments.end(), start.arguments.begin(), start.arguments.end());
    auto environment = merged_environment(start.environment);
    const auto argument_pointers = pointers_to(arguments);
    const auto environment_pointers = pointers_to(environment);
    int last = standard_streams - 1;
    for (const auto& given : start.descriptors) last = std::max(last, given.number);
    const child_plan plan{program.c_str(),
                          argument_pointers.data(),
                          environment_pointers.data(),
                          start.descriptors.data(),
                          start.descriptors.size(),
                          status->write_end.get(),
                          static_cast<unsigned>(last + 1),
                          start.working_directory.c_str(),
                          ::getpid()};

    const pid_t process = ::fork();
    if (process < 0) return error{error_code::io_error, "'" + program + "' was not started: " + std::strerror(errno)};
    if (process == 0) become(plan);
    ::setpgid(process, process);  // both sides do it, so that whoever comes first wins
    status->write_end.reset();
    int why = 0;
    ssize_t got = 0;
    do got = ::read(status->read_end.get(), &why, sizeof why);
    while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof why)) return process;
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
    return error{error_code::not_found,
                 "'" + program + "' was not started: " + std::strerror(why),
                 {},
                 "Give the path of an executable file."};
}

}  // namespace assay
