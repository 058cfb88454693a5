// Every statistic has a defined answer for data that says nothing: too few values, equal ones, ones that are no numbers.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/block_statistics.hpp"
#include "analysis/comparability.hpp"
#include "analysis/quadruple_statistics.hpp"
#include "analysis/recompute.hpp"
#include "analysis/sample_statistics.hpp"
#include "analysis/stopping_rule.hpp"
#include "analysis/trend.hpp"
#include "unit/analysis/receipts.hpp"

using namespace assay;

namespace {

using list = std::vector<double>;

const double not_a_number = std::nan("");
const double infinite = std::numeric_limits<double>::infinity();

std::vector<list> lists_with_no_number() {
    return {{not_a_number}, {1, not_a_number, 2}, {infinite, 1, 2, 3}, {-infinite, infinite, 1}};
}

}  // namespace

TEST_CASE("no statistic makes a figure of no value, or of one that is not finite") {
    std::vector<list> lists = lists_with_no_number();
    lists.emplace_back();
    for (const list& values : lists) {
        CHECK_FALSE(mean(values).has_value());
        CHECK_FALSE(median(values).has_value());
        CHECK_FALSE(standard_deviation(values).has_value());
        CHECK_FALSE(mean_interval(values, 0.95).has_value());
        CHECK_FALSE(hodges_lehmann(values).has_value());
        CHECK_FALSE(bootstrap_interval(values, 0.95, 1).has_value());
        CHECK_FALSE(welch_half_width(values, list{1, 2, 3}, 0.95).has_value());
        CHECK_FALSE(two_stage_interval(values, values.size(), 0.95).has_value());
        CHECK(find_changes(values).empty());
    }
}

TEST_CASE("one value is its own centre and has no spread") {
    const list one{4};
    CHECK(*mean(one) == 4);
    CHECK(*median(one) == 4);
    CHECK(*hodges_lehmann(one) == 4);
    CHECK_FALSE(standard_deviation(one).has_value());
    CHECK_FALSE(mean_interval(one, 0.95).has_value());
    CHECK_FALSE(welch_half_width(one, list{1, 2}, 0.95).has_value());
    CHECK_FALSE(bootstrap_interval(one, 0.95, 1).has_value());
    CHECK_FALSE(autocorrelation(one).has_value());
    CHECK(count_outliers(one) == 0);
    CHECK(effective_count(1, 0.5) == 1);
}

TEST_CASE("equal values have a spread of exactly zero, an interval without width and no autocorrelation") {
    const list equal(12, 0.1);
    CHECK(*standard_deviation(equal) == 0);
    const auto interval = *mean_interval(equal, 0.95);
    CHECK(interval.first == interval.second);
    CHECK(*welch_half_width(equal, equal, 0.95) == 0);
    CHECK(bootstrap_interval(equal, 0.95, 1)->first == doctest::Approx(0.1));
    CHECK_FALSE(autocorrelation(equal).has_value());
    CHECK(count_outliers(equal) == 0);
    CHECK(decide_quadruples({true, 1, 20, 0.001}, list(6, 0.3)).quadruples == 6);
    CHECK(find_changes(equal).empty());
}

TEST_CASE("steps of zero time have neither autocorrelation nor outliers") {
    const list times{1, 1, 1, 1, 0, 1, 1, 1, 1, 1};
    CHECK_FALSE(autocorrelation(times).has_value());
    CHECK(count_outliers(list(8, 0.0)) == 0);
}

TEST_CASE("autocorrelation and the count it stands for stay within their bounds however the steps lie") {
    list rising;
    list alternating;
    for (int i = 0; i < 40; ++i) {
        rising.push_back(std::exp(i));
        alternating.push_back(i % 2 == 0 ? 1 : 2);
    }
    CHECK(*autocorrelation(rising) <= 0.99);
    CHECK(*autocorrelation(alternating) >= -0.99);
    CHECK(effective_count(40, *autocorrelation(rising)) >= 1);
    CHECK(effective_count(40, *autocorrelation(alternating)) <= 40);
    CHECK(effective_count(0, 0.5) == 0);
}

TEST_CASE("the second stage is the bound where the first one says nothing") {
    const quadruple_plan plan{true, 1, 20, 0.01};
    CHECK(decide_quadruples(plan, list{}).quadruples == 20);
    CHECK(decide_quadruples(plan, list{1}).quadruples == 20);
    CHECK(decide_quadruples(plan, list{1, not_a_number, 1}).quadruples == 20);
    CHECK(decide_quadruples(plan, list{-1e300, 1e300, 0}).quadruples == 20);
    CHECK_FALSE(two_stage_interval(list{1, 2}, 6, 0.95).has_value());
}

TEST_CASE("a run of which one arm is missing throughout has a drift and a ratio of neither") {
    receipt document = test::receipt_of({10, 5, 5, 10});
    std::erase_if(document.arms, [](const arm_record& block) { return block.block == 'B'; });
    document.verdict = test::verdict_of(document);
    CHECK(document.verdict.result == verdict_result::failed);
    CHECK_FALSE(document.analysis.speedup.has_value());
    CHECK_FALSE(document.analysis.max_loss_drift.has_value());
    CHECK(check_figures(document).empty());
    const comparison outcome = compare(document, document);
    CHECK_FALSE(outcome.speedup_ratio.has_value());
    CHECK_FALSE(outcome.comparable);
}

TEST_CASE("a run whose steps all took the same time has a ratio of exactly 1 and is precise") {
    receipt document = test::receipt_of(list(12, 7.0), 12);
    document.verdict = test::verdict_of(document);
    CHECK(*document.analysis.speedup == 1);
    CHECK(document.analysis.interval95->first == 1);
    CHECK(document.analysis.interval95->second == 1);
    CHECK(*document.analysis.repeat_spread_a == 0);
    CHECK(document.verdict.result == verdict_result::verified);
    receipt single = test::receipt_of(list(4, 7.0), 12);
    single.verdict = test::verdict_of(single);
    // 0 is five times 0: no spread and no difference is precise, and says that there is none.
    CHECK(single.verdict.precision == "spread");
    CHECK(check_figures(single).empty());
}
