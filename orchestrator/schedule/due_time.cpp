#include "schedule/due_time.hpp"

namespace assay {

due_decision decide_due(const cron_expression& cron, const time_zone& zone, sys_seconds checked_until,
                        sys_seconds now) {
    using namespace std::chrono;
    due_decision decision;
    int seen = 0;
    auto at = checked_until;
    while (seen <= max_missed_counted) {
        const auto next = cron.next_after(at, zone);
        if (!next || *next > now) {
            decision.missed = seen > 0 ? seen - 1 : 0;
            return decision;
        }
        decision.fire = *next;
        at = *next;
        ++seen;
    }
    // Too many to walk through: find the newest from behind, in windows that grow until one holds a due time.
    decision.missed = max_missed_counted;
    for (const auto window : {hours(1), hours(24), hours(24 * 8), hours(24 * 32), hours(24 * 400)}) {
        auto next = cron.next_after(now - window, zone);
        if (!next || *next > now) continue;
        for (; next && *next <= now; next = cron.next_after(*next, zone)) decision.fire = *next;
        break;
    }
    return decision;
}

}  // namespace assay
