// The texts of a run's live events: what /api/v1/runs/{id}/events sends and the command line's progress bar reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Where a run stands; `event: state`.
struct progress_state {
    std::string run;
    std::string state;  ///< "queued", "running", "done", "failed", "cancelled", "interrupted"
    std::string phase;  ///< while running: "launching", "measuring", ...
    std::string arm;    ///< empty before the first
    int arm_index = 0;
    int arm_count = 0;
    std::optional<std::string> receipt_id, verdict;
};

/// Steps of the arm that runs, as they arrived; `event: steps`.
struct progress_steps {
    std::string run, arm, phase;  ///< "warmup" or "measure"
    int arm_index = 0, arm_count = 0;
    int first = 0, asked = 0;
    std::vector<double> wall_ms, loss;
};

/// One line about the run; `event: log`.
struct progress_log {
    std::string run, level, message;
};

std::string progress_text(const progress_state& progress);
std::string progress_text(const progress_steps& progress);
std::string progress_text(const progress_log& progress);

}  // namespace assay
