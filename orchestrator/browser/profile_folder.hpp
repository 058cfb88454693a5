// Browser profiles: one fresh folder a launch, all below one parent, each removed whatever happens.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "browser/child_process.hpp"
#include "browser/system_commands.hpp"
#include "core/ids.hpp"
#include "core/result.hpp"

namespace assay {

/// One profile. While it lives its `owner.lock` is held, so that a sweep by another process leaves it alone.
class profile_folder {
  public:
    /// Makes <home>/profiles/<fresh id>/ with a folder for temporary files in it.
    static result<std::unique_ptr<profile_folder>> create(const std::filesystem::path& home, const clock& time,
                                                          random_source& random);
    ~profile_folder();
    profile_folder(const profile_folder&) = delete;
    profile_folder& operator=(const profile_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Short enough for the sockets that Chrome makes in it, however long the home's path is; removed with the profile.
    const std::filesystem::path& temporary_files() const { return temporary_files_; }
    /// Ends what still runs with this profile, and removes it. False when something is left (it is swept later).
    bool remove(system_commands& commands);

  private:
    profile_folder(std::filesystem::path path, std::filesystem::path temporary_files, unique_descriptor lock)
        : path_(std::move(path)), temporary_files_(std::move(temporary_files)), lock_(std::move(lock)) {}
    std::filesystem::path path_;
    std::filesystem::path temporary_files_;
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
