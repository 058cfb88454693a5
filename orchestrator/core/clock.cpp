#include "core/clock.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace assay {

std::string format_utc(utc_time time) {
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time);
    const auto day = std::chrono::floor<std::chrono::days>(milliseconds);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock_face{milliseconds - day};
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(clock_face.hours().count()), static_cast<int>(clock_face.minutes().count()),
                  static_cast<int>(clock_face.seconds().count()), static_cast<int>(clock_face.subseconds().count()));
    return text.data();
}

result<utc_time> parse_utc(std::string_view text) {
    const auto wrong = [&] {
        return error{error_code::invalid_argument,
                     "'" + std::string(text) + "' is not a time in UTC",
                     {},
                     "Write it as 2026-11-30T21:37:27.123Z."};
    };
    const std::string copy(text);
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, consumed = 0;
    if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second,
                    &consumed) != 6 ||
        consumed != 19)
        return wrong();
    std::string_view rest = std::string_view(copy).substr(19);
    std::chrono::microseconds fraction{0};
    if (rest.starts_with('.')) {
        std::int64_t scale = 100000;
        rest.remove_prefix(1);
        if (rest.empty() || rest[0] < '0' || rest[0] > '9') return wrong();
        while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
            fraction += std::chrono::microseconds((rest[0] - '0') * scale);
            scale /= 10;
            rest.remove_prefix(1);
        }
    }
    if (rest != "Z") return wrong();
    // The clock counts nanoseconds in 64 bits, which end in the year 2262.
    if (year < 1970 || year > 2261)
        return error{error_code::invalid_argument,
                     "'" + copy + "' lies outside the years 1970 to 2261",
                     {},
                     "Write a time that a run can have had, as 2026-11-30T21:37:27.123Z."};
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60 || hour < 0 || minute < 0 || second < 0) return wrong();
    return utc_time(std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                    std::chrono::seconds(second) + fraction);
}

}  // namespace assay
