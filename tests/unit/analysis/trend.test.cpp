#include "analysis/trend.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "unit/analysis/simulated_runs.hpp"

using namespace assay;
using doctest::Approx;

namespace {

// A series of a steady 10x with heavy-tailed noise of 2 %, a factor from `change_at` on.
std::vector<double> series(std::size_t length, std::uint64_t seed, std::size_t change_at = 1000, double factor = 1) {
    seeded_random random(seed);
    std::vector<double> out;
    for (std::size_t i = 0; i < length; ++i)
        out.push_back(10 * std::exp(0.02 * test::heavy_tailed(random)) * (i >= change_at ? factor : 1));
    return out;
}

trend_rule quick() {
    trend_rule rule;
    rule.permutations = 399;
    return rule;
}

}  // namespace

TEST_CASE("noise is not a change: at most 1 in 200 looks at a series without one reports it") {
    int alarms = 0;
    for (std::uint64_t seed = 1; seed <= 2000; ++seed)
        alarms += find_changes(series(30, seed), quick()).empty() ? 0 : 1;
    // 0.5 % of 2,000 is 10; 20 lies three standard deviations above.
    CHECK(alarms <= 20);
}

TEST_CASE("a change of 10 % is found at its place, with its size and an interval around it") {
    int found = 0;
    int at_its_place = 0;
    int covered = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const auto changes = find_changes(series(30, seed, 18, 0.9), quick());
        if (changes.empty()) continue;
        ++found;
        at_its_place += changes[0].first == 18 ? 1 : 0;
        covered += changes[0].interval95.first <= 0.9 && 0.9 <= changes[0].interval95.second ? 1 : 0;
    }
    CHECK(found >= 190);
    CHECK(at_its_place >= 170);
    CHECK(covered >= 180);
}

TEST_CASE("two changes are found in order") {
    std::vector<double> values = series(60, 5, 20, 0.8);
    for (std::size_t i = 40; i < 60; ++i) values[i] *= 1.5;
    const auto changes = find_changes(values);
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].first == 20);
    CHECK(changes[1].first == 40);
    CHECK(changes[0].ratio == Approx(0.8).epsilon(0.03));
    CHECK(changes[1].ratio == Approx(1.5).epsilon(0.03));
}

TEST_CASE("one wild value is not a change") {
    std::vector<double> values = series(30, 3);
    values[15] *= 3;
    CHECK(find_changes(values).empty());
}

TEST_CASE("a change too small to matter is not reported, however certain") {
    std::vector<double> values(40, 10.0);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= (i % 2 ? 1.0001 : 1) * (i >= 20 ? 1.005 : 1);
    CHECK(find_changes(values).empty());
    for (std::size_t i = 20; i < values.size(); ++i) values[i] *= 1.02;
    CHECK(find_changes(values).size() == 1);
}

TEST_CASE("short, constant and impossible series have no change") {
    CHECK(find_changes({}).empty());
    CHECK(find_changes(std::vector<double>{1, 1, 1, 2, 2}).empty());
    CHECK(find_changes(std::vector<double>(50, 3.0)).empty());
    CHECK(find_changes(std::vector<double>{1, 1, 1, 1, 0, 1, 1, 1}).empty());
    CHECK(find_changes(std::vector<double>{1, 1, 1, 1, std::nan(""), 1, 1, 1}).empty());
}

TEST_CASE("the same series gives the same answer") {
    const auto values = series(40, 9, 25, 0.93);
    const auto first = find_changes(values);
    const auto second = find_changes(values);
    REQUIRE(first.size() == second.size());
    REQUIRE_FALSE(first.empty());
    CHECK(first[0].chance == second[0].chance);
}

TEST_CASE("of a very long series the newest values are looked at, and indices still count from its start") {
    std::vector<double> values = series(700, 4, 600, 0.8);
    trend_rule rule = quick();
    const auto changes = find_changes(values, rule);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].first == 600);
}
