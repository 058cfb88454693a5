// Removing what is old enough.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"

namespace assay {

/// How long a schedule's ended runs and their receipts are kept, whatever the rules for all others say.
struct schedule_retention {
    std::string schedule_id;
    int days = 0;
};

/// How long things are kept; absent: for ever.
struct retention_rules {
    std::optional<int> receipts_days;
    std::optional<int> runs_days;  ///< ended runs, counted from when they were made
    std::vector<schedule_retention> schedules;
};

struct retention_report {
    std::vector<std::string> receipts;  ///< ids of those removed, with their files in the store
    std::int64_t runs = 0;
    bool vacuumed = false;
};

/// Removes receipts and ended runs that are older, in small transactions, so that other writers wait little. The newest
/// receipt of every machine stays, whatever its age: its chain goes on from it. With SQLite the file then gives its
/// free pages back (VACUUM needs the file's size again while it works, and holds writers off); PostgreSQL's own
/// autovacuum does that there. `stop` is asked between transactions. Blocks.
result<retention_report> apply_retention(std::string_view store_url, const retention_rules& rules, const clock& time,
                                         const std::function<bool()>& stop = {});

}  // namespace assay
