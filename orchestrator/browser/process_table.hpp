// Finding the processes that belong to a profile, by its marker in their folder, command line or environment, never by a name.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "browser/system_commands.hpp"

namespace assay {

/// Environment variable that every browser of ours, and so every process it starts, carries: the profile's path.
inline constexpr std::string_view profile_variable = "ASSAY_PROFILE";

/// Process ids whose working folder, command line or environment names `profile_path`; this process is never among them. Linux reads
/// /proc (another root in tests); macOS asks `ps`.
std::vector<pid_t> processes_of_profile(const std::string& profile_path, system_commands& commands,
                                        const std::filesystem::path& proc_root = "/proc");

/// Whether a process of this group still runs; one that has ended and is only to be reaped does not count.
bool group_has_running_member(pid_t group, const std::filesystem::path& proc_root = "/proc");

/// Reaps the ended children that this process did not start but was given, as PID 1 and a subreaper are: those that do not
/// lead a group of their own (start_program makes every child of ours a leader). False while one is just ending, when it
/// has no memory left but cannot be reaped yet. Linux only; elsewhere true.
bool reap_adopted_children(const std::filesystem::path& proc_root = "/proc");

/// The pids in what `ps -axwwo pid=,command=` printed whose command names `profile_path`.
std::vector<pid_t> processes_in_listing(std::string_view listing, std::string_view profile_path);

}  // namespace assay
