// The environment reader of this machine.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "browser/system_commands.hpp"
#include "run/ports.hpp"

namespace assay {

/// Reads Linux's /proc and /sys, or asks macOS's commands. `home` says which file system's space counts and which browsers
/// are ours. Sleep is counted from the making of the reader. `time` must outlive it.
std::unique_ptr<environment_reader> make_environment_reader(std::string machine_id, std::filesystem::path home,
                                                            std::string assay_version, const clock& time,
                                                            std::unique_ptr<system_commands> commands = make_system_commands());

}  // namespace assay
