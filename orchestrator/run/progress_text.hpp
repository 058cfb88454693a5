// What a watcher of a run is told, made from the machine's events.
#pragma once

#include <vector>

#include "run/ports.hpp"
#include "run/run_fsm.hpp"

namespace assay {

/// The progress that `event` stands for, after the machine took it: nothing for most events.
std::vector<run_progress> progress_of(const run_fsm& machine, const run_event& event);

}  // namespace assay
