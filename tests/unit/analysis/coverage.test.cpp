// Whether the intervals cover the truth as often as they say, on simulated runs of two equal arms.

#include <doctest/doctest.h>

#include <cmath>

#include "analysis/sample_statistics.hpp"
#include "analysis/stopping_rule.hpp"
#include "unit/analysis/simulated_runs.hpp"

using namespace assay;

namespace {

constexpr int experiments = 2000;

struct automatic_outcome {
    double covered = 0;     ///< fraction of the intervals that hold the truth
    double excludes_0 = 0;  ///< fraction that claims a difference
    double quadruples = 0;  ///< mean count
};

automatic_outcome run_automatically(const test::noise& of, const quadruple_plan& plan) {
    automatic_outcome out;
    for (int seed = 1; seed <= experiments; ++seed) {
        std::vector<double> all = test::simulated_log_ratios(of, plan.bound, static_cast<std::uint64_t>(seed));
        const auto first = static_cast<std::size_t>(first_stage_quadruples(plan));
        const int count = decide_quadruples(plan, std::span(all).first(first)).quadruples;
        all.resize(static_cast<std::size_t>(count));
        const auto [low, high] = *two_stage_interval(all, first, 0.95);
        out.covered += low <= of.log_ratio && of.log_ratio <= high ? 1 : 0;
        out.excludes_0 += low > 0 || high < 0 ? 1 : 0;
        out.quadruples += count;
    }
    out.covered /= experiments;
    out.excludes_0 /= experiments;
    out.quadruples /= experiments;
    return out;
}

}  // namespace

TEST_CASE(
    "a fixed count of quadruples covers the truth in 93 to 97 % of runs with drift, autocorrelation and heavy tails") {
    const test::noise of;
    for (const int quadruples : {3, 5, 10}) {
        int covered = 0;
        for (int seed = 1; seed <= experiments; ++seed) {
            const auto d = test::simulated_log_ratios(of, quadruples, static_cast<std::uint64_t>(seed));
            const auto [low, high] = *mean_interval(d, 0.95);
            covered += low <= 0 && 0 <= high ? 1 : 0;
        }
        CAPTURE(quadruples);
        CHECK(covered >= 0.93 * experiments);
        CHECK(covered <= 0.97 * experiments);
    }
}

TEST_CASE("an automatic count covers the truth as often, however narrow the interval asked for") {
    for (const double half_width : {0.005, 0.01, 0.02, 0.05}) {
        for (const double block_sd : {0.002, 0.01}) {
            test::noise of;
            of.block_sd = block_sd;
            const automatic_outcome outcome = run_automatically(of, {true, 1, 20, half_width});
            CAPTURE(half_width);
            CAPTURE(block_sd);
            CAPTURE(outcome.quadruples);
            CHECK(outcome.covered >= 0.93);
            CHECK(outcome.covered <= 0.97);
        }
    }
}

TEST_CASE("stopping as soon as the interval looks narrow enough would cover too seldom") {
    const test::noise of;
    int covered = 0;
    for (int seed = 1; seed <= experiments; ++seed) {
        const auto all = test::simulated_log_ratios(of, 20, static_cast<std::uint64_t>(seed));
        std::size_t count = 3;
        auto interval = *mean_interval(std::span(all).first(count), 0.95);
        while (interval.second - interval.first > 2 * 0.01 && count < all.size())
            interval = *mean_interval(std::span(all).first(++count), 0.95);
        covered += interval.first <= 0 && 0 <= interval.second ? 1 : 0;
    }
    CHECK(covered < 0.93 * experiments);
}

TEST_CASE("a true difference of 3 % is found with the quadruples that an automatic run asks for") {
    test::noise of;
    of.log_ratio = std::log(1.03);
    const automatic_outcome outcome = run_automatically(of, {true, 1, 40, 0.015});
    CAPTURE(outcome.quadruples);
    CHECK(outcome.excludes_0 >= 0.95);
    CHECK(outcome.covered >= 0.93);
}

TEST_CASE("the first stage is six quadruples, or the bound where that is fewer") {
    CHECK(first_stage_quadruples({true, 1, 20, 0.05}) == 6);
    CHECK(first_stage_quadruples({true, 1, 3, 0.05}) == 3);
    CHECK(first_stage_quadruples({false, 9, 20, 0.05}) == 9);
}

TEST_CASE("the second stage grows with the first one's spread and stops at the bound") {
    const quadruple_plan plan{true, 1, 20, 0.05};
    CHECK(decide_quadruples(plan, std::vector<double>(6, 0.5)).quadruples == 6);
    CHECK(decide_quadruples(plan, std::vector<double>{0, 0.1, 0, 0.1, 0, 0.1}).quadruples == 8);
    const auto wild = decide_quadruples(plan, std::vector<double>{0, 1, 0, 1, 0, 1});
    CHECK(wild.quadruples == 20);
    CHECK(wild.wanted > 700);
}
