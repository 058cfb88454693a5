#include "browser/process_table.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace assay {

namespace {

std::string read_file(const std::filesystem::path& path) {
    // Through an insertion, which takes a failing read as the end: a process may end while its file is read, and an
    // iterator over the buffer would throw.
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

/// True when `text` holds the path as a whole, not as the start of a longer name.
bool names_path(std::string_view text, std::string_view path) {
    for (auto at = text.find(path); at != std::string_view::npos; at = text.find(path, at + 1)) {
        const auto after = at + path.size();
        if (after == text.size() || text[after] == '\0' || text[after] == '/' || text[after] == ' ' || text[after] == '\n')
            return true;
    }
    return false;
}

[[maybe_unused]] std::optional<pid_t> pid_in_name(const std::string& name) {
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) return std::nullopt;
    return pid;
}

/// What /proc/<pid>/stat tells.
struct process_status {
    char state = 0;
    pid_t parent = 0, group = 0;
    bool has_ended() const { return state == 'Z' || state == 'X'; }
};

[[maybe_unused]] std::optional<process_status> read_status(const std::filesystem::path& process) {
    const std::string stat = read_file(process / "stat");
    // "pid (name) state parent group ...": the name may hold anything, so that the last bracket ends it.
    std::istringstream rest(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
    process_status status;
    if (!(rest >> status.state >> status.parent >> status.group)) return std::nullopt;
    return status;
}

[[maybe_unused]] std::vector<pid_t> processes_in_proc(const std::string& profile_path, const std::filesystem::path& root) {
    std::vector<pid_t> found;
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(root, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const auto pid = pid_in_name(entry->path().filename().string());
        if (!pid || *pid == ::getpid()) continue;
        // Chrome's helpers overwrite their environment with their title; the folder they were started in stays.
        std::error_code unreadable;
        const auto folder = std::filesystem::read_symlink(entry->path() / "cwd", unreadable).string();
        const std::string marked = std::string(profile_variable) + "=" + profile_path;
        if (names_path(folder, profile_path) ||
            names_path(read_file(entry->path() / "cmdline"), profile_path) ||
            names_path(read_file(entry->path() / "environ"), marked))
            found.push_back(*pid);
    }
    return found;
}

}  // namespace

std::vector<pid_t> processes_in_listing(std::string_view listing, std::string_view profile_path) {
    std::vector<pid_t> found;
    while (!listing.empty()) {
        const auto end = listing.find('\n');
        auto line = listing.substr(0, end);
        listing.remove_prefix(end == std::string_view::npos ? listing.size() : end + 1);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        pid_t pid = 0;
        const auto parsed = std::from_chars(line.data(), line.data() + line.size(), pid);
        if (parsed.ec == std::errc{} && pid > 0 && pid != ::getpid() &&
            names_path({parsed.ptr, static_cast<std::size_t>(line.data() + line.size() - parsed.ptr)}, profile_path))
            found.push_back(pid);
    }
    return found;
}

std::vector<pid_t> processes_of_profile(const std::string& profile_path,
                                        [[maybe_unused]] system_commands& commands,
                                        [[maybe_unused]] const std::filesystem::path& proc_root) {
#ifdef __APPLE__
    return processes_in_listing(commands.output_of({"ps", "-axwwo", "pid=,command="}).value_or(""), profile_path);
#else
    return processes_in_proc(profile_path, proc_root);
#endif
}

bool group_has_running_member(pid_t group, [[maybe_unused]] const std::filesystem::path& proc_root) {
    if (::kill(-group, 0) != 0 && errno == ESRCH) return false;
#ifdef __linux__
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(proc_root, failure), end; !failure && entry != end;
         entry.increment(failure))
        if (pid_in_name(entry->path().filename().string())) {
            const auto status = read_status(entry->path());
            if (status && status->group == group && !status->has_ended()) return true;
        }
    return static_cast<bool>(failure);  // what could not be looked at may still run
#else
    return true;
#endif
}

bool reap_adopted_children([[maybe_unused]] const std::filesystem::path& proc_root) {
    bool none_is_ending = true;
#ifdef __linux__
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(proc_root, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const auto pid = pid_in_name(entry->path().filename().string());
        if (!pid) continue;
        const auto status = read_status(entry->path());
        if (!status || status->parent != ::getpid() || status->group == *pid) continue;
        if (status->has_ended())
            ::waitpid(*pid, nullptr, WNOHANG);
        else if (read_file(entry->path() / "cmdline").empty())
            none_is_ending = false;
    }
#endif
    return none_is_ending;
}

}  // namespace assay
