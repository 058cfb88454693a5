// When a machine has cooled down, and when an arm has warmed up: pure rules that the run's state machine asks.
#pragma once

#include <span>
#include <string>

#include "contract/environment.hpp"
#include "contract/receipt.hpp"

namespace assay {

/// How far load and temperature may lie above their level at the run's start and still count as back.
struct settling_tolerance {
    double load_per_core = 0.1;
    double celsius = 3;
};

/// Whether load and temperature are back where they were when the run began. What this system cannot tell is no reason
/// to wait; a thermal state that throttles ("serious", "critical") always is. `logical_cores` is at least 1.
bool machine_is_settled(const environment_snapshot& at_start, const environment_snapshot& now, int logical_cores,
                        settling_tolerance tolerance = {});

/// "load 0.42 (0.10 at the start), 61.0 C (48.0 C at the start)": what a wait ended with, for people.
std::string settling_text(const environment_snapshot& at_start, const environment_snapshot& now);

/// Whether warm-up may end: the median of the last `block` steps differs from that of the `block` before by at most
/// `tolerance` (a fraction of the earlier one). False with fewer than two blocks.
bool warmup_is_stable(std::span<const step_sample> warmup, int block, double tolerance);

}  // namespace assay
