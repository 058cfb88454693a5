#include "schedule/cron.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/clock.hpp"

using namespace assay;
using namespace std::chrono;

namespace {

sys_seconds at(const std::string& text) {
    return floor<seconds>(parse_utc(text).value());
}

/// The next `count` due moments after `from`, in UTC without the fraction.
std::vector<std::string> due(const std::string& cron, const std::string& zone_name, const std::string& from,
                             int count) {
    const auto expression = cron_expression::parse(cron).value();
    const auto zone = load_time_zone(zone_name).value();
    std::vector<std::string> moments;
    auto after = at(from);
    for (int i = 0; i < count; ++i) {
        after = expression.next_after(after, zone).value();
        moments.push_back(format_utc(after).substr(0, 16) + "Z");
    }
    return moments;
}

using moments = std::vector<std::string>;

}  // namespace

TEST_CASE("cron finds the next due time in UTC") {
    CHECK(due("30 2 * * *", "UTC", "2026-11-30T21:00:00Z", 2) == moments{"2026-12-01T02:30Z", "2026-12-02T02:30Z"});
    CHECK(due("*/20 * * * *", "UTC", "2026-11-30T21:45:00Z", 2) == moments{"2026-11-30T22:00Z", "2026-11-30T22:20Z"});
    CHECK(due("5-15/5,50 9 * * *", "UTC", "2026-01-01T09:10:00Z", 3) ==
          moments{"2026-01-01T09:15Z", "2026-01-01T09:50Z", "2026-01-02T09:05Z"});
    CHECK(due("0 0 1 jan,JUL *", "UTC", "2026-02-01T00:00:00Z", 2) ==
          moments{"2026-07-01T00:00Z", "2027-01-01T00:00Z"});
    CHECK(due("0 12 * * mon-fri", "UTC", "2026-11-27T13:00:00Z", 1) == moments{"2026-11-30T12:00Z"});
    CHECK(due("@weekly", "UTC", "2026-11-30T00:00:00Z", 1) == moments{"2026-12-06T00:00Z"});
}

TEST_CASE("a due time is never the moment asked after") {
    CHECK(due("30 2 * * *", "UTC", "2026-11-30T02:30:00Z", 1) == moments{"2026-12-01T02:30Z"});
}

TEST_CASE("seven and zero are Sunday") {
    CHECK(due("0 0 * * 7", "UTC", "2026-11-30T00:00:00Z", 1) == due("0 0 * * 0", "UTC", "2026-11-30T00:00:00Z", 1));
}

TEST_CASE("where both day fields are restricted either suffices") {
    CHECK(due("0 0 13 * fri", "UTC", "2026-11-30T00:00:00Z", 4) ==
          moments{"2026-12-04T00:00Z", "2026-12-11T00:00Z", "2026-12-13T00:00Z", "2026-12-18T00:00Z"});
}

TEST_CASE("leap days are found over a century's gap, and days that never come are absent") {
    CHECK(due("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 2) == moments{"2028-02-29T00:00Z", "2032-02-29T00:00Z"});
    CHECK(due("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1) == moments{"2104-02-29T00:00Z"});
    CHECK_FALSE(cron_expression::parse("0 0 30 2 *").value().next_after(at("2026-01-01T00:00:00Z"), time_zone()));
}

TEST_CASE("a nightly time that the clock jumps over is due when it has jumped, once") {
    // Berlin 2026-03-29: 02:00 becomes 03:00 at 01:00 UTC.
    CHECK(due("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3) ==
          moments{"2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"});
    CHECK(due("15,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2) ==
          moments{"2026-03-29T01:00Z", "2026-03-30T00:15Z"});
    CHECK(due("30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2) ==
          moments{"2026-03-08T07:00Z", "2026-03-09T06:30Z"});
}

TEST_CASE("a nightly time that comes twice is due once") {
    // Berlin 2026-10-25: 03:00 becomes 02:00 at 01:00 UTC.
    CHECK(due("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2) ==
          moments{"2026-10-25T00:30Z", "2026-10-26T01:30Z"});
    CHECK(due("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2) ==
          moments{"2026-11-01T05:30Z", "2026-11-02T06:30Z"});
}

TEST_CASE("an hourly schedule follows real hours through both changes") {
    CHECK(due("0 * * * *", "Europe/Berlin", "2026-03-28T23:30:00Z", 3) ==
          moments{"2026-03-29T00:00Z", "2026-03-29T01:00Z", "2026-03-29T02:00Z"});
    CHECK(due("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 4) ==
          moments{"2026-10-25T00:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z", "2026-10-25T03:00Z"});
}

TEST_CASE("zones south of the equator and with half-hour changes hold") {
    // Lord Howe: 02:00 becomes 02:30 on 2026-10-04, half an hour, at 15:30 UTC of the day before.
    CHECK(due("10 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2) ==
          moments{"2026-10-03T15:30Z", "2026-10-04T15:10Z"});
    CHECK(due("0 3 * * *", "Australia/Sydney", "2026-07-01T00:00:00Z", 1) == moments{"2026-07-01T17:00Z"});
    CHECK(due("0 3 * * *", "Australia/Sydney", "2026-12-01T00:00:00Z", 1) == moments{"2026-12-01T16:00Z"});
}

TEST_CASE("years beyond the compiled table follow the zone's rule") {
    CHECK(due("0 12 1 7 *", "Europe/Berlin", "2060-01-01T00:00:00Z", 1) == moments{"2060-07-01T10:00Z"});
    CHECK(due("0 12 1 1 *", "Europe/Berlin", "2060-02-01T00:00:00Z", 1) == moments{"2061-01-01T11:00Z"});
    CHECK(due("0 12 1 1 *", "Australia/Sydney", "2060-02-01T00:00:00Z", 1) == moments{"2061-01-01T01:00Z"});
    CHECK(due("30 2 * * *", "Europe/Berlin", "2060-03-27T12:00:00Z", 1) == moments{"2060-03-28T01:00Z"});
}

TEST_CASE("every night of forty years has exactly one nightly run") {
    for (const std::string zone_name :
         {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Tehran"}) {
        CAPTURE(zone_name);
        const auto zone = load_time_zone(zone_name).value();
        const auto expression = cron_expression::parse("30 0 * * *").value();
        auto after = at("2026-01-01T12:00:00Z");
        for (int night = 0; night < 365 * 40; ++night) {
            const auto next = expression.next_after(after, zone).value();
            const auto hours_between = duration_cast<hours>(next - after).count();
            if (night > 0) REQUIRE((hours_between >= 22 && hours_between <= 26));
            after = next;
        }
    }
}

TEST_CASE("wrong expressions are refused with the field's name") {
    for (const std::string text : {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
                                   "* * * * 8", "5-1 * * * *", "*/0 * * * *", "a * * * *", "1,,2 * * * *", "-1 * * * *",
                                   "1- * * * *", "* * * foo *", "@reboot"})
        CHECK_FALSE(cron_expression::parse(text).has_value());
    CHECK(cron_expression::parse("* 24 * * *").error().message.find("hour") != std::string::npos);
}

TEST_CASE("names that are not zones are refused and never become paths") {
    CHECK(load_time_zone("../../etc/passwd").error().code == error_code::invalid_argument);
    CHECK(load_time_zone("/etc/passwd").error().code == error_code::invalid_argument);
    CHECK(load_time_zone("Mars/Olympus").error().code == error_code::not_found);
    CHECK(load_time_zone("Europe").error().code == error_code::not_found);
}

TEST_CASE("bytes that are no compiled zone are corrupt") {
    CHECK_FALSE(time_zone::parse("").has_value());
    CHECK_FALSE(time_zone::parse("TZif2").has_value());
    CHECK_FALSE(time_zone::parse(std::string("TZif2") + std::string(39, '\xff')).has_value());
    CHECK_FALSE(parse_zone_rule("CET-1CEST").has_value());
    CHECK_FALSE(parse_zone_rule("CET-1CEST,M13.1.0,M10.5.0").has_value());
}
