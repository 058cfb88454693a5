#include "browser/profile_folder.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

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

/// Room that a profile may need in memory, shared memory of the browser's processes included.
constexpr std::uint64_t min_memory_bytes = std::uint64_t{512} << 20;

struct browser_folders {
    fs::path user_data, temporary_files;
};

/// A short folder elsewhere that the link <profile>/t leads to. The link comes first: whatever happens then, a sweep finds
/// what is there to be removed.
fs::path make_outside_folder(const fs::path& parent, const fs::path& profile, std::error_code& failure) {
    const std::string id = profile.filename().string();
    const fs::path outside = parent / ("assay-" + id.substr(id.size() / 2));
    fs::create_directory_symlink(outside, profile / "t", failure);
    if (!failure && ::mkdir(outside.c_str(), S_IRWXU) != 0) failure = std::error_code(errno, std::generic_category());
    return outside;
}

/// In memory where there is any; else in the profile, with the temporary files in the system's folder where their path
/// would be too long.
browser_folders make_browser_folders(const fs::path& profile, const std::optional<fs::path>& memory, std::error_code& failure) {
    fs::create_directories(profile, failure);
    if (failure) return {};
    const fs::path inside = profile / "t";
    if (memory) {
        const fs::path outside = make_outside_folder(*memory, profile, failure);
        if (!failure) fs::create_directory(outside / "data", failure);
        return {inside / "data", outside};
    }
    if (inside.string().size() > max_temporary_path) return {profile, make_outside_folder("/tmp", profile, failure)};
    fs::create_directory(inside, failure);
    return {profile, inside};
}

/// False while something of it is left: the link must then stay, or nothing would lead there any more.
bool remove_outside_folder(const fs::path& profile) {
    std::error_code failure;
    const fs::path link = profile / "t";
    if (!fs::is_symlink(link, failure)) return true;
    const fs::path outside = fs::read_symlink(link, failure);
    if (failure || !outside.filename().string().starts_with("assay-")) return true;
    fs::remove_all(outside, failure);
    return !fs::exists(outside, failure);
}

bool remove_folder(const fs::path& path) {
    // A process that is just dying may still add a file: try again.
    for (int attempt = 0; attempt < 20; ++attempt) {
        std::error_code failure;
        if (remove_outside_folder(path)) fs::remove_all(path, failure);
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

std::optional<fs::path> find_memory_folder([[maybe_unused]] const fs::path& candidate) {
#ifdef __linux__
    struct statfs space {};
    if (::statfs(candidate.c_str(), &space) != 0 || space.f_type != TMPFS_MAGIC) return std::nullopt;
    const auto free_bytes = static_cast<std::uint64_t>(space.f_bavail) * static_cast<std::uint64_t>(space.f_bsize);
    if (free_bytes >= min_memory_bytes && ::access(candidate.c_str(), W_OK | X_OK) == 0) return candidate;
#endif
    return std::nullopt;
}

result<std::unique_ptr<profile_folder>> profile_folder::create(const fs::path& home, const clock& time, random_source& random,
                                                               std::optional<fs::path> memory) {
    std::error_code failure;
    const fs::path parent = fs::absolute(home, failure) / "profiles";
    const fs::path path = parent / make_sortable_id(time, random);
    const browser_folders folders = make_browser_folders(path, memory, failure);
    if (failure) {
        remove_folder(path);
        return error{error_code::io_error, "no browser profile at " + path.string() + ": " + failure.message(), {},
                     "Check that the home folder is writable and has space."};
    }
    fs::permissions(path, fs::perms::owner_all, failure);
    auto lock = take_lock(path);
    if (!lock.valid()) {
        const std::string why = std::strerror(errno);
        remove_folder(path);
        return error{error_code::io_error, "the browser profile at " + path.string() + " cannot be locked: " + why};
    }
    return std::unique_ptr<profile_folder>(new profile_folder(path, folders.user_data, folders.temporary_files, std::move(lock)));
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
