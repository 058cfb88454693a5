#include "notify/command_hook.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

extern char** environ;

namespace assay::notify {
namespace {

constexpr auto look_interval = std::chrono::milliseconds(20);
constexpr auto patience_after_term = std::chrono::seconds(1);

/// What posix_spawn needs, released whatever happens.
struct spawn_settings {
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
    spawn_settings() {
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        // What a hook prints must not mix with what we answer on standard output.
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setpgroup(&attributes, 0);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
    }
    ~spawn_settings() {
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
    }
    spawn_settings(const spawn_settings&) = delete;
    spawn_settings& operator=(const spawn_settings&) = delete;
};

/// Our environment with `variables` over it, as "NAME=VALUE".
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
    std::vector<std::string> out;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto name = text.substr(0, text.find('='));
        bool replaced = false;
        for (const auto& [key, value] : variables) replaced = replaced || key == name;
        if (!replaced) out.emplace_back(text);
    }
    for (const auto& [key, value] : variables) out.push_back(key + "=" + value);
    return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (auto& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

/// True when the process has ended by `end`; its status is then in `status`.
bool wait_until(pid_t process, std::chrono::steady_clock::time_point end, const std::function<bool()>& stop, int& status) {
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
    std::vector<std::string> arguments = command, environment = environment_with(variables);
    auto argument_pointers = pointers_to(arguments), environment_pointers = pointers_to(environment);
    const spawn_settings settings;
    pid_t process = 0;
    const int failed = ::posix_spawnp(&process, arguments.front().c_str(), &settings.files, &settings.attributes,
                                      argument_pointers.data(), environment_pointers.data());
    if (failed != 0)
        return error{error_code::not_found, "the hook '" + command.front() + "' cannot be started: " + std::strerror(failed)};
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
