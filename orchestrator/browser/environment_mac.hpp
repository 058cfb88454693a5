// What macOS commands say about the machine and the moment, read from their output. Not run on a Mac by its makers: the
// formats are those of the commands' manuals and of public reports, kept as fixtures.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "browser/system_commands.hpp"
#include "contract/environment.hpp"

namespace assay {

/// sw_vers, sysctl hw.model, machdep.cpu.brand_string, hw.memsize.
void read_mac_machine(system_commands& commands, machine_facts& facts);
/// pmset -g batt, pmset -g therm, sysctl vm.loadavg, vm_stat, kern.boottime, memory pressure.
void read_mac_snapshot(system_commands& commands, double now_unix_seconds, environment_snapshot& snapshot);
/// Main processes of browsers in `ps -axwwo pid=,command=` whose command does not name `own_profiles`.
int count_mac_browsers(system_commands& commands, const std::string& own_profiles);

/// "Now drawing from 'AC Power'" and "-InternalBattery-0 (id=...)	87%; ...".
void read_pmset_battery(std::string_view output, environment_snapshot& snapshot);
/// CPU_Speed_Limit of `pmset -g therm`: 100 is "nominal", 80 and more "fair", 50 and more "serious", less "critical"; the
/// note "No thermal warning level has been recorded" is "nominal".
std::optional<std::string> thermal_state_of(std::string_view pmset_therm);
/// Free, inactive and speculative pages over all of memory, from `vm_stat` and the machine's bytes.
std::optional<double> memory_available_of(std::string_view vm_stat, double memory_bytes);

}  // namespace assay
