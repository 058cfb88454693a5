#include "schedule/cron.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

namespace assay {
namespace {

using namespace std::chrono;

constexpr std::size_t max_expression_bytes = 256;

constexpr std::array<std::string_view, 12> month_names{"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> day_names{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct field_form {
    std::string_view name;
    int low, high;
    std::span<const std::string_view> names;
    int first_name;  ///< the value of names[0]
};

constexpr std::array<field_form, 5> field_forms{
    field_form{"minute", 0, 59, {}, 0}, field_form{"hour", 0, 23, {}, 0}, field_form{"day of month", 1, 31, {}, 0},
    field_form{"month", 1, 12, month_names, 1}, field_form{"day of week", 0, 7, day_names, 0}};

std::optional<int> read_number(std::string_view text) {
    int value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

std::optional<int> read_value(std::string_view text, const field_form& form) {
    for (std::size_t i = 0; i < form.names.size(); ++i)
        if (equal_ignoring_case(text, form.names[i])) return form.first_name + static_cast<int>(i);
    const auto value = read_number(text);
    if (!value || *value < form.low || *value > form.high) return std::nullopt;
    return value;
}

/// Sets the bits of one list item: "*", "5", "1-5", each with an optional "/step".
template <class Bits>
bool read_item(std::string_view item, const field_form& form, Bits& bits) {
    int step = 1;
    const auto slash = item.find('/');
    if (slash != std::string_view::npos) {
        const auto value = read_number(item.substr(slash + 1));
        if (!value || *value < 1 || *value > form.high) return false;
        step = *value;
        item = item.substr(0, slash);
    }
    int first = form.low, end = form.high;
    if (item != "*") {
        const auto dash = item.find('-');
        const auto from = read_value(item.substr(0, dash), form);
        const auto to = dash == std::string_view::npos
                            ? (slash == std::string_view::npos ? from : std::optional(form.high))
                            : read_value(item.substr(dash + 1), form);
        if (!from || !to || *to < *from) return false;
        first = *from;
        end = *to;
    }
    for (int value = first; value <= end; value += step) bits.set(static_cast<std::size_t>(value));
    return true;
}

template <class Bits>
result<void> read_field(std::string_view text, const field_form& form, Bits& bits) {
    const std::string whole(text);
    while (true) {
        const auto comma = text.find(',');
        if (!read_item(text.substr(0, comma), form, bits))
            return error{error_code::invalid_argument, "'" + whole + "' is not a valid " + std::string(form.name) +
                                                           " of a cron expression; it goes from " +
                                                           std::to_string(form.low) + " to " +
                                                           std::to_string(form.high)};
        if (comma == std::string_view::npos) return {};
        text.remove_prefix(comma + 1);
    }
}

std::string_view expanded(std::string_view text) {
    if (text == "@hourly") return "0 * * * *";
    if (text == "@daily" || text == "@midnight") return "0 0 * * *";
    if (text == "@weekly") return "0 0 * * 0";
    if (text == "@monthly") return "0 0 1 * *";
    return text;
}

}  // namespace

result<cron_expression> cron_expression::parse(std::string_view text) {
    if (text.size() > max_expression_bytes)
        return error{error_code::invalid_argument, "The cron expression is longer than 256 bytes"};
    text = expanded(text);
    std::vector<std::string_view> fields;
    while (!text.empty()) {
        const auto begin = text.find_first_not_of(" \t");
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        const auto field = text.substr(0, text.find_first_of(" \t"));
        fields.push_back(field);
        text.remove_prefix(field.size());
    }
    if (fields.size() != field_forms.size())
        return error{error_code::invalid_argument,
                     "A cron expression has five fields: minute, hour, day of month, month, day "
                     "of week; here are " +
                         std::to_string(fields.size())};
    cron_expression cron;
    std::bitset<8> weekdays;
    if (auto read = read_field(fields[0], field_forms[0], cron.minutes_); !read) return read.error();
    if (auto read = read_field(fields[1], field_forms[1], cron.hours_); !read) return read.error();
    if (auto read = read_field(fields[2], field_forms[2], cron.days_); !read) return read.error();
    if (auto read = read_field(fields[3], field_forms[3], cron.months_); !read) return read.error();
    if (auto read = read_field(fields[4], field_forms[4], weekdays); !read) return read.error();
    for (std::size_t day = 0; day < 8; ++day)
        if (weekdays.test(day)) cron.weekdays_.set(day % 7);
    cron.any_hour_ = fields[1].starts_with('*');
    cron.any_day_ = fields[2].starts_with('*');
    cron.any_weekday_ = fields[4].starts_with('*');
    return cron;
}

bool cron_expression::day_matches(local_days day) const {
    const year_month_day date(day);
    if (!months_.test(static_cast<unsigned>(date.month()))) return false;
    const bool by_date = days_.test(static_cast<unsigned>(date.day()));
    const bool by_weekday = weekdays_.test(weekday(day).c_encoding());
    return any_day_ || any_weekday_ ? by_date && by_weekday : by_date || by_weekday;
}

std::optional<sys_seconds> cron_expression::first_of_day(local_days day, sys_seconds after,
                                                         const time_zone& zone) const {
    std::optional<sys_seconds> first;
    const auto consider = [&](sys_seconds moment) {
        if (moment > after && (!first || moment < *first)) first = moment;
    };
    // A day whose clock does not change has one offset: its times are then in order and the first one settles it.
    const bool even = zone.offset_at(sys_seconds(day.time_since_epoch()) - hours(27)) ==
                      zone.offset_at(sys_seconds(day.time_since_epoch()) + hours(51));
    for (int hour = 0; hour < 24; ++hour) {
        if (!hours_.test(static_cast<std::size_t>(hour))) continue;
        for (int minute = 0; minute < 60; ++minute) {
            if (!minutes_.test(static_cast<std::size_t>(minute))) continue;
            const auto local = local_seconds(day) + hours(hour) + minutes(minute);
            if (even) {
                consider(sys_seconds(local.time_since_epoch()) - zone.offset_at(sys_seconds(local.time_since_epoch())));
                if (first) return first;
                continue;
            }
            const auto meaning = zone.meaning_of(local);
            if (meaning.moments.empty()) {
                if (!any_hour_) consider(meaning.after_gap);
            } else {
                consider(meaning.moments.front());
                if (any_hour_) consider(meaning.moments.back());
            }
        }
    }
    return first;
}

std::optional<sys_seconds> cron_expression::next_after(sys_seconds after, const time_zone& zone) const {
    constexpr int horizon_days = 8 * 366 + 2;  // 29 February may be eight years away (1896 to 1904, 2096 to 2104)
    auto day = floor<days>(zone.to_local(after)) - days(1);
    for (int i = 0; i < horizon_days; ++i, day += days(1)) {
        std::optional<sys_seconds> first;
        if (day_matches(day)) first = first_of_day(day, after, zone);
        if (!first) continue;
        // Where the clock goes back over midnight the next day's first time may come before this day's last.
        if (day_matches(day + days(1)))
            if (const auto next = first_of_day(day + days(1), after, zone); next && *next < *first) return next;
        return first;
    }
    return std::nullopt;
}

}  // namespace assay
