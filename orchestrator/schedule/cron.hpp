// Five-field cron expressions in a time zone: when is a schedule due?
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "schedule/time_zone.hpp"

namespace assay {

/// "minute hour day-of-month month day-of-week", or @hourly, @daily, @weekly, @monthly. Lists, ranges, steps, names of
/// months and days (English, three letters), 7 for Sunday. Where both day fields are restricted, either suffices.
class cron_expression {
  public:
    /// The error names the field and what it may hold.
    static result<cron_expression> parse(std::string_view text);

    /// The first moment after `after` at which the expression is due on the zone's clock; absent when there is none
    /// within eight years (30 February). Daylight saving: a fixed time that the clock jumps over is due when the clock
    /// has jumped, and one that comes twice is due the first time only, so that a nightly run happens once. With an
    /// hour field that begins with '*' every matching time that exists is due.
    std::optional<sys_seconds> next_after(sys_seconds after, const time_zone& zone) const;

  private:
    bool day_matches(std::chrono::local_days day) const;
    std::optional<sys_seconds> first_of_day(std::chrono::local_days day, sys_seconds after,
                                            const time_zone& zone) const;

    std::bitset<60> minutes_;
    std::bitset<24> hours_;
    std::bitset<32> days_;     ///< 1..31
    std::bitset<13> months_;   ///< 1..12
    std::bitset<7> weekdays_;  ///< 0 is Sunday
    bool any_day_ = false;     ///< the day-of-month field begins with '*'
    bool any_weekday_ = false;
    bool any_hour_ = false;
};

}  // namespace assay
