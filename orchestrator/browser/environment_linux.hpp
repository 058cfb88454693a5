// What /proc and /sys say about the machine and the moment. The root folder is a parameter, so that tests can give their own.
#pragma once

#include <filesystem>

#include "contract/environment.hpp"

namespace assay {

/// Model, cores, memory, distribution and kernel.
void read_linux_machine(const std::filesystem::path& root, machine_facts& facts);
/// Power, temperature, throttling, load, memory, uptime, frequency, governor.
void read_linux_snapshot(const std::filesystem::path& root, environment_snapshot& snapshot);
/// Processes of browsers, by the name of their executable, whose working folder is not below `own_profiles`.
int count_linux_browsers(const std::filesystem::path& root, const std::filesystem::path& own_profiles);

}  // namespace assay
