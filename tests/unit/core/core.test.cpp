#include <doctest/doctest.h>

#include <array>
#include <set>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "core/random.hpp"
#include "core/result.hpp"
#include "core/ring_buffer.hpp"
#include "support/fake_clock.hpp"

using namespace assay;

TEST_CASE("an error's text names the field, the fault and the remedy") {
    const error wrong{error_code::invalid_argument, "steps is 0", "/steps", "Give 1 to 10000."};
    CHECK(wrong.text() == "/steps: steps is 0. Give 1 to 10000.");
    CHECK(code_name(wrong.code) == "invalid-argument");
}

TEST_CASE("a result holds a value or an error, and value() of an error throws its text") {
    const result<int> good = 7;
    const result<int> bad = error{error_code::not_found, "no such run"};
    CHECK(*good == 7);
    CHECK_FALSE(bad.has_value());
    CHECK_THROWS_WITH_AS(bad.value(), "no such run", error_exception);
}

TEST_CASE("identifiers made later sort later, differ, and only their own form is accepted") {
    test::fake_clock time;
    seeded_random random(1);
    std::set<std::string> made;
    std::string previous;
    for (int at = 0; at < 200; ++at) {
        const std::string id = make_sortable_id(time, random);
        CHECK(is_sortable_id(id));
        CHECK(id > previous);
        made.insert(id);
        previous = id;
        time.advance(std::chrono::milliseconds(1));
    }
    CHECK(made.size() == 200);
    for (const char* wrong : {"", "../../etc/passwd", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01arz3ndektsv4rrffq69g5fav",
                              "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FAIL"})
        CHECK_FALSE(is_sortable_id(wrong));
}

TEST_CASE("times are written in UTC with milliseconds and read back") {
    const utc_time time = utc_time(std::chrono::milliseconds(1796074647123));
    const std::string text = format_utc(time);
    CHECK(text == "2026-11-30T21:37:27.123Z");
    CHECK(parse_utc(text).value() == time);
    CHECK(parse_utc("2026-11-30T21:37:27Z").has_value());
}

TEST_CASE("what is not a time in UTC is refused") {
    for (const char* wrong :
         {"", "now", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
          "2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Z "})
        CHECK_FALSE(parse_utc(wrong).has_value());
}

TEST_CASE("a time that the clock cannot count is refused by its year, and the first and last years are taken") {
    for (const char* beyond : {"4052-01-01T00:00:00Z", "2262-01-01T00:00:00Z", "1969-12-31T23:59:59Z"}) {
        const auto parsed = parse_utc(beyond);
        REQUIRE_FALSE(parsed.has_value());
        CHECK(parsed.error().text().find("1970 to 2261") != std::string::npos);
    }
    CHECK(format_utc(parse_utc("1970-01-01T00:00:00Z").value()) == "1970-01-01T00:00:00.000Z");
    CHECK(format_utc(parse_utc("2261-12-31T23:59:59.999Z").value()) == "2261-12-31T23:59:59.999Z");
}

TEST_CASE("the seeded generator repeats itself and agrees with SplitMix64's published first values") {
    seeded_random random(1234567);
    CHECK(random.next() == 6457827717110365317ULL);
    CHECK(random.next() == 3203168211198807973ULL);
    seeded_random again(1234567);
    CHECK(again.next() == 6457827717110365317ULL);
}

TEST_CASE("below() stays below its bound and reaches every value") {
    seeded_random random(3);
    std::array<int, 7> seen{};
    for (int at = 0; at < 7000; ++at) ++seen[random.below(7)];
    for (const int count : seen) CHECK(count > 800);
}

TEST_CASE("the system's generator fills every byte") {
    system_random random;
    CHECK(random.next_u64() != random.next_u64());
}

TEST_CASE("a ring forgets its oldest and counts what it forgot") {
    ring_buffer<int> ring(3);
    for (int at = 0; at < 5; ++at) ring.push(at);
    CHECK(ring.values() == std::deque<int>{2, 3, 4});
    CHECK(ring.forgotten() == 2);
}
