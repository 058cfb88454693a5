// Notices when the wall clock was set: leases are wall-clock times, since several hubs share them.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "core/clock.hpp"

namespace assay::lab {

/// Compares the wall clock's advance with the steady clock's, look by look.
class clock_watch {
  public:
    explicit clock_watch(std::chrono::milliseconds tolerance) : tolerance_(tolerance) {}

    /// Whether the wall clock moved, since the last look, by more than `tolerance` less or more than time went by. The
    /// first look finds nothing.
    bool jumped(const clock& time) {
        const look now{time.now(), time.steady_now()};
        const auto before = std::exchange(last_, now);
        if (!before) return false;
        const auto off = std::chrono::duration_cast<std::chrono::milliseconds>(now.wall - before->wall) -
                         std::chrono::duration_cast<std::chrono::milliseconds>(now.steady - before->steady);
        return std::chrono::abs(off) > tolerance_;
    }

  private:
    struct look {
        utc_time wall;
        std::chrono::steady_clock::time_point steady;
    };
    std::chrono::milliseconds tolerance_;
    std::optional<look> last_;
};

}  // namespace assay::lab
