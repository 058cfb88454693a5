#include <charconv>

#include "schedule/time_zone.hpp"
#include "schedule/zone_rule_days.hpp"

namespace assay {
namespace {

using namespace std::chrono;

/// Takes a POSIX TZ string apart from its front; `failed` once something does not fit.
struct rule_reader {
    std::string_view text;
    bool failed = false;

    bool take(char wanted) {
        if (!text.starts_with(wanted)) return false;
        text.remove_prefix(1);
        return true;
    }
    int number(int low, int high) {
        int value = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem != std::errc() || value < low || value > high) {
            failed = true;
            return low;
        }
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return value;
    }
    void name() {
        std::size_t length = 0;
        if (text.starts_with('<')) {
            length = text.find('>');
            length = length == std::string_view::npos ? 0 : length + 1;
        } else {
            while (length < text.size() &&
                   ((text[length] >= 'a' && text[length] <= 'z') || (text[length] >= 'A' && text[length] <= 'Z')))
                ++length;
        }
        if (length < 3) failed = true;
        text.remove_prefix(length);
    }
    seconds duration(int most_hours) {
        const bool negative = take('-');
        if (!negative) take('+');
        seconds value = hours(number(0, most_hours));
        if (take(':')) value += minutes(number(0, 59));
        if (take(':')) value += seconds(number(0, 59));
        return negative ? -value : value;
    }
    zone_rule_day day() {
        zone_rule_day day;
        if (take('M')) {
            day.month = number(1, 12);
            if (!take('.')) failed = true;
            day.week = number(1, 5);
            if (!take('.')) failed = true;
            day.weekday = number(0, 6);
        } else if (take('J')) {
            day.kind = zone_rule_day::form::day_without_leap;
            day.day = number(1, 365);
        } else {
            day.kind = zone_rule_day::form::day_with_leap;
            day.day = number(0, 365);
        }
        if (take('/')) day.at = duration(167);
        return day;
    }
};

/// The moment of a change in a year, as local time by the offset in force before it.
local_seconds change_in(const zone_rule_day& rule, year in_year) {
    local_days date;
    switch (rule.kind) {
        case zone_rule_day::form::month_week_day: {
            const month in_month(static_cast<unsigned>(rule.month));
            const weekday on(static_cast<unsigned>(rule.weekday));
            date = rule.week == 5 ? local_days(in_year / in_month / on[last])
                                  : local_days(in_year / in_month / on[static_cast<unsigned>(rule.week)]);
            break;
        }
        case zone_rule_day::form::day_without_leap: {
            const bool after_leap_day = in_year.is_leap() && rule.day >= 60;
            date = local_days(in_year / January / 1) + days(rule.day - 1 + (after_leap_day ? 1 : 0));
            break;
        }
        case zone_rule_day::form::day_with_leap:
            date = local_days(in_year / January / 1) + days(rule.day);
            break;
    }
    return local_seconds(date) + rule.at;
}

}  // namespace

result<zone_rule> parse_zone_rule(std::string_view text) {
    rule_reader reader{text};
    zone_rule rule;
    reader.name();
    rule.standard = -reader.duration(24);
    if (!reader.failed && !reader.text.empty()) {
        reader.name();
        rule.summer = rule.standard + hours(1);
        if (!reader.text.empty() && reader.text.front() != ',') rule.summer = -reader.duration(24);
        if (!reader.take(',')) reader.failed = true;
        rule.begin = reader.day();
        if (!reader.take(',')) reader.failed = true;
        rule.end = reader.day();
    }
    if (reader.failed || !reader.text.empty())
        return error{error_code::corrupt, "'" + std::string(text) + "' is not a POSIX time zone rule"};
    return rule;
}

seconds offset_by_rule(const zone_rule& rule, sys_seconds moment) {
    if (!rule.summer) return rule.standard;
    const year_month_day date(floor<days>(moment + rule.standard));
    const auto as_moment = [](local_seconds local, seconds offset) {
        return sys_seconds(local.time_since_epoch()) - offset;
    };
    const auto begin = as_moment(change_in(rule.begin, date.year()), rule.standard);
    const auto end = as_moment(change_in(rule.end, date.year()), *rule.summer);
    // South of the equator summer begins late in the year and ends early in the next.
    const bool summer = begin < end ? moment >= begin && moment < end : moment >= begin || moment < end;
    return summer ? *rule.summer : rule.standard;
}

}  // namespace assay
