// Which due time of a schedule is to be fired now: at most one, however many were missed.
#pragma once

#include <optional>

#include "schedule/cron.hpp"

namespace assay {

struct due_decision {
    std::optional<sys_seconds> fire;  ///< the newest due time that has come
    int missed = 0;  ///< earlier ones since `checked_until`, left out; counted up to max_missed_counted
};

inline constexpr int max_missed_counted = 1000;

/// Looks at the due times after `checked_until` and up to `now`. After a long stop only the newest is fired.
due_decision decide_due(const cron_expression& cron, const time_zone& zone, sys_seconds checked_until, sys_seconds now);

}  // namespace assay
