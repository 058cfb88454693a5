// Time zones of the IANA database, from the system's compiled files (TZif, RFC 8536): g++ 12 has no std::chrono zones.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/result.hpp"

namespace assay {

using local_seconds = std::chrono::local_seconds;
using sys_seconds = std::chrono::sys_seconds;

/// A day of the year on which a rule of a POSIX TZ string changes the clock.
struct zone_rule_day {
    enum class form { month_week_day, day_without_leap, day_with_leap };
    form kind = form::month_week_day;
    int month = 0, week = 0, weekday = 0;  ///< week 5 is the last
    int day = 0;                           ///< 1..365 without leap days, 0..365 with them
    std::chrono::seconds at{7200};         ///< local time of day; may be negative or over a day
};

/// The footer's rule, for times after the last transition of the table.
struct zone_rule {
    std::chrono::seconds standard{0};  ///< to add to UTC
    std::optional<std::chrono::seconds> summer;
    zone_rule_day begin, end;  ///< of summer time
};

/// What a wall-clock time stands for: no moment (the clock jumps over it), one, or two (it comes twice).
struct local_meaning {
    std::vector<sys_seconds> moments;  ///< in order; empty in a gap
    sys_seconds after_gap{};           ///< in a gap: the moment at which the clock has jumped
};

/// One zone: offsets by moment.
class time_zone {
  public:
    /// UTC.
    time_zone() = default;
    /// Reads a TZif file's bytes; corrupt when they are not one.
    static result<time_zone> parse(std::string_view bytes);

    /// Seconds to add to UTC at a moment.
    std::chrono::seconds offset_at(sys_seconds moment) const;
    local_seconds to_local(sys_seconds moment) const;
    local_meaning meaning_of(local_seconds local) const;

  private:
    std::vector<std::int64_t> transitions_;      ///< seconds since 1970, ascending
    std::vector<std::chrono::seconds> offsets_;  ///< after each transition
    std::chrono::seconds first_offset_{0};       ///< before the first
    std::optional<zone_rule> rule_;
};

/// Reads a POSIX TZ string ("CET-1CEST,M3.5.0,M10.5.0/3"; POSIX.1-2017 chapter 8.3, with RFC 8536's wider hours).
result<zone_rule> parse_zone_rule(std::string_view text);

/// The zone of an IANA name ("Europe/Berlin") or "UTC". invalid_argument for names that are not plain, not_found for
/// those the system lacks. `database` is the folder of the compiled zones.
result<time_zone> load_time_zone(std::string_view name, const std::filesystem::path& database = "/usr/share/zoneinfo");

}  // namespace assay
