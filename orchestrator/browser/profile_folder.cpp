#include "browser/profile_folder.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <algorithm>
#include <cstring>

#include "browser/process_table.hpp"

namespace assay {

namespace fs = std::filesystem;

namespace {

constexpr int end_attempts = 40;  // of 25 ms: one second in all

/// Kills what names the profile until nothing does; new processes may appear while old ones die.
std::vector<pid_t> end_processes_of(const std::string& profile_path, system_commands& commands) {
    std::vector<pid_t> ended;
    for (int attempt = 0; attempt < end_attempts; ++attempt) {
        const auto alive = processes_of_profile(profile_path, commands);
        if (alive.empty()) break;
        for (const pid_t pid : alive) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, WNOHANG);  // ours when this process is PID 1 or a subreaper
            if (std::find(ended.begin(), ended.end(), pid) == ended.end()) ended.push_back(pid);
        }
        ::usleep(25000);
        for (const pid_t pid : alive) ::waitpid(pid, nullptr, WNOHANG);
    }
    return ended;
}

/// Chrome binds a socket at TMPDIR/org.chromium.Chromium.XXXXXX/SingletonSocket, and ends at once when that is longer than
/// a socket's address may be (108 bytes on Linux, 104 on macOS, the final zero included).
constexpr std::size_t max_temporary_path = 104 - 1 - sizeof "/org.chromium.Chromium.XXXXXX/SingletonSocket";

/// The folder for a browser's temporary files: in the profile, or, where that path is too long, a short one in the
/// system's folder that a link in the profile leads to.
fs::path make_temporary_folder(const fs::path& profile, std::error_code& failure) {
    const fs::path inside = profile / "t";
    if (inside.string().size() <= max_temporary_path) {
        fs::create_directories(inside, failure);
        return inside;
    }
    fs::create_directories(profile, failure);
    if (failure) return inside;
    const std::string id = profile.filename().string();
    const fs::path outside = fs::path("/tmp") / ("assay-" + id.substr(id.size() / 2));
    if (!fs::create_directory(outside, failure) && !failure) failure = std::make_error_code(std::errc::file_exists);
    if (!failure) fs::permissions(outside, fs::perms::owner_all, failure);
    if (!failure) fs::create_directory_symlink(outside, inside, failure);
    return outside;
}

void remove_outside_folder(const fs::path& profile) {
    std::error_code failure;
    const fs::path link = profile / "t";
    if (!fs::is_symlink(link, failure)) return;
    const fs::path outside = fs::read_symlink(link, failure);
    if (!failure && outside.filename().string().starts_with("assay-")) fs::remove_all(outside, failure);
}

bool remove_folder(const fs::path& path) {
    remove_outside_folder(path);
    // A process that is just dying may still add a file: try again.
    for (int attempt = 0; attempt < 20; ++attempt) {
        std::error_code failure;
        fs::remove_all(path, failure);
        if (!fs::exists(path, failure)) return true;
        ::usleep(10000);
    }
    return false;
}

unique_descriptor take_lock(const fs::path& folder) {
    unique_descriptor lock(::open((folder / "owner.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (lock.valid() && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) lock.reset();
    return lock;
}

}  // namespace

result<std::unique_ptr<profile_folder>> profile_folder::create(const fs::path& home, const clock& time,
                                                               random_source& random) {
    std::error_code failure;
    const fs::path parent = fs::absolute(home, failure) / "profiles";
    const fs::path path = parent / make_sortable_id(time, random);
    const fs::path temporary = make_temporary_folder(path, failure);
    if (failure)
        return error{error_code::io_error, "no browser profile at " + path.string() + ": " + failure.message(), {},
                     "Check that the home folder is writable and has space."};
    fs::permissions(path, fs::perms::owner_all, failure);
    auto lock = take_lock(path);
    if (!lock.valid()) {
        const std::string why = std::strerror(errno);
        remove_folder(path);
        return error{error_code::io_error, "the browser profile at " + path.string() + " cannot be locked: " + why};
    }
    return std::unique_ptr<profile_folder>(new profile_folder(path, temporary, std::move(lock)));
}

profile_folder::~profile_folder() {
    if (removed_) return;
    const auto commands = make_system_commands();
    remove(*commands);
}

bool profile_folder::remove(system_commands& commands) {
    if (removed_) return true;
    end_processes_of(path_.string(), commands);
    removed_ = remove_folder(path_);
    return removed_;
}

sweep_report sweep_profiles(const fs::path& home, system_commands& commands) {
    sweep_report report;
    std::error_code failure;
    const fs::path parent = fs::absolute(home, failure) / "profiles";
    std::vector<fs::path> folders;
    for (fs::directory_iterator entry(parent, failure), end; !failure && entry != end; entry.increment(failure))
        if (is_sortable_id(entry->path().filename().string()) && entry->is_directory(failure)) folders.push_back(entry->path());
    for (const auto& folder : folders) {
        const auto lock = take_lock(folder);
        if (!lock.valid()) {
            ++report.folders_in_use;
            continue;
        }
        for (const pid_t pid : end_processes_of(folder.string(), commands)) report.processes_ended.push_back(pid);
        if (remove_folder(folder)) ++report.folders_removed;
    }
    return report;
}

}  // namespace assay
