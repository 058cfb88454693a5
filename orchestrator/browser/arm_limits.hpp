// How long each part of an arm may take before it is called silent.
#pragma once

#include <chrono>

#include "browser/browser_link.hpp"

namespace assay {

struct arm_limits {
    std::chrono::milliseconds launch{30000};   ///< process start to the first protocol answer
    std::chrono::milliseconds page{30000};     ///< navigation to `ready`
    std::chrono::milliseconds call{15000};     ///< one DevTools call
    std::chrono::milliseconds prepare{600000}; ///< compile, weights, pipelines of the largest models
    stop_limits stop;
};

/// Limits for an arm that may be silent for `silence`: preparing, which says nothing in between, may take five times that.
inline arm_limits limits_for_silence(std::chrono::milliseconds silence) {
    arm_limits limits;
    limits.prepare = 5 * silence;
    return limits;
}

}  // namespace assay
