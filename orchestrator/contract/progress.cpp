#include "contract/progress.hpp"

#include <nlohmann/json.hpp>

namespace assay {

using json = nlohmann::ordered_json;

std::string progress_text(const progress_state& progress) {
    json out{{"run", progress.run}, {"state", progress.state}};
    if (!progress.phase.empty()) out["phase"] = progress.phase;
    if (!progress.arm.empty()) out["arm"] = progress.arm;
    out["arm_index"] = progress.arm_index;
    out["arm_count"] = progress.arm_count;
    if (progress.receipt_id) out["receipt_id"] = *progress.receipt_id;
    if (progress.verdict) out["verdict"] = *progress.verdict;
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string progress_text(const progress_steps& progress) {
    const json out{{"run", progress.run},
                   {"arm", progress.arm},
                   {"phase", progress.phase},
                   {"arm_index", progress.arm_index},
                   {"arm_count", progress.arm_count},
                   {"first", progress.first},
                   {"asked", progress.asked},
                   {"wall_ms", progress.wall_ms},
                   {"loss", progress.loss}};
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string progress_text(const progress_log& progress) {
    const json out{{"run", progress.run}, {"level", progress.level}, {"message", progress.message}};
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace assay
