#include "notify/command_hook.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "core/start_program.hpp"

namespace assay::notify {
namespace {

constexpr auto look_interval = std::chrono::milliseconds(20);
constexpr auto patience_after_term = std::chrono::seconds(1);

/// True when the process has ended by `end`; its status is then in `status`.
bool wait_until(pid_t process, std::chrono::steady_clock::time_point end, const std::function<bool()>& stop,
                int& status) {
    while (true) {
        if (::waitpid(process, &status, WNOHANG) == process) return true;
        if (std::chrono::steady_clock::now() >= end || (stop && stop())) return false;
        std::this_thread::sleep_for(look_interval);
    }
}

}  // namespace

result<int> run_command_hook(const std::vector<std::string>& command,
                             const std::vector<std::pair<std::string, std::string>>& variables,
                             std::chrono::milliseconds limit, const std::function<bool()>& stop) {
    if (command.empty()) return error{error_code::invalid_argument, "a hook names no program"};
    const unique_descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    program_start plan;
    plan.program = command.front();
    plan.arguments.assign(command.begin() + 1, command.end());
    plan.environment = variables;
    // What a hook prints must not mix with what we answer on standard output.
    plan.descriptors = {{nothing.get(), STDIN_FILENO}, {STDERR_FILENO, STDOUT_FILENO}};
    const auto started = start_program(plan);
    if (!started) return error{started.error().code, "the hook cannot be started: " + started.error().message};
    const pid_t process = *started;
    int status = 0;
    if (!wait_until(process, std::chrono::steady_clock::now() + limit, stop, status)) {
        const bool asked = stop && stop();
        ::kill(-process, SIGTERM);
        if (!wait_until(process, std::chrono::steady_clock::now() + patience_after_term, {}, status)) {
            ::kill(-process, SIGKILL);
            ::waitpid(process, &status, 0);
        }
        ::kill(-process, SIGKILL);  // what the program left in its group
        if (asked) return error{error_code::cancelled, "the hook '" + command.front() + "' was ended with the service"};
        return error{error_code::deadline_exceeded,
                     "the hook '" + command.front() + "' took longer than " + std::to_string(limit.count()) + " ms"};
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace assay::notify
