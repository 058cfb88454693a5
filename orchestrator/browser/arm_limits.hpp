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

}  // namespace assay
