// Browser profiles: one fresh folder a launch, all below one parent, each removed whatever happens.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "browser/child_process.hpp"
#include "browser/system_commands.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"

namespace assay {

/// A folder of files that lie in memory, where the system has one with room for a browser's profile (Linux: /dev/shm). A browser
/// writes and syncs its profile all the time: on a disk that delays its start and its end, and disturbs what it measures.
std::optional<std::filesystem::path> find_memory_folder(const std::filesystem::path& candidate = "/dev/shm");

/// One profile. While it lives its `owner.lock` is held, so that a sweep by another process leaves it alone.
class profile_folder {
  public:
    /// Makes <home>/profiles/<fresh id>/, which marks what belongs to it. The browser's own files go below `memory`, where
    /// there is one; a link in the folder leads to them.
    static result<std::unique_ptr<profile_folder>> create(const std::filesystem::path& home, const clock& time,
                                                          random_source& random,
                                                          std::optional<std::filesystem::path> memory = find_memory_folder());
    ~profile_folder();
    profile_folder(const profile_folder&) = delete;
    profile_folder& operator=(const profile_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// For --user-data-dir; a path below path(), so that a command line names the profile. Removed with it.
    const std::filesystem::path& user_data() const { return user_data_; }
    /// Short enough for the sockets that Chrome makes in it, however long the home's path is; removed with the profile.
    const std::filesystem::path& temporary_files() const { return temporary_files_; }
    /// Ends what still runs with this profile, and removes it. False when something is left (it is swept later).
    bool remove(system_commands& commands);

  private:
    profile_folder(std::filesystem::path path, std::filesystem::path user_data, std::filesystem::path temporary_files,
                   unique_descriptor lock)
        : path_(std::move(path)),
          user_data_(std::move(user_data)),
          temporary_files_(std::move(temporary_files)),
          lock_(std::move(lock)) {}
    std::filesystem::path path_, user_data_, temporary_files_;
    unique_descriptor lock_;
    bool removed_ = false;
};

/// What a sweep did.
struct sweep_report {
    int folders_removed = 0;
    std::vector<pid_t> processes_ended;
    int folders_in_use = 0;  ///< their owner lives
};

/// Ends the browsers of owners that died and removes their profiles. Call at start, before anything is launched.
sweep_report sweep_profiles(const std::filesystem::path& home, system_commands& commands);

}  // namespace assay
