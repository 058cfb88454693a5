// When a POSIX TZ rule changes the clock.
#pragma once

#include "schedule/time_zone.hpp"

namespace assay {

/// Seconds to add to UTC at a moment, by the rule alone.
std::chrono::seconds offset_by_rule(const zone_rule& rule, sys_seconds moment);

}  // namespace assay
