#include "analysis/paired_statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/quadruple_statistics.hpp"
#include "unit/analysis/receipts.hpp"

using namespace assay;
using doctest::Approx;

TEST_CASE("one quadruple gives a ratio, its medians' quotient, and a spread, and says that there is no interval") {
    const analysis_facts facts = analyse(test::receipt_of({10, 2, 2.5, 12}));
    CHECK(facts.quadruples == 1);
    CHECK(*facts.speedup == Approx(std::sqrt(10.0 * 12 / (2 * 2.5))));
    CHECK(*facts.a_median_ms / *facts.b_median_ms == Approx(*facts.speedup).epsilon(1e-14));
    CHECK(*facts.repeat_spread_a == Approx(std::log(1.2)));
    CHECK(*facts.repeat_spread_b == Approx(std::log(1.25)));
    CHECK_FALSE(facts.interval95.has_value());
    REQUIRE(facts.notes.size() == 1);
    CHECK(facts.notes[0].find("no interval") != std::string::npos);
}

TEST_CASE("linear drift cancels out of the ratio, in either order") {
    for (const char* order : {"ABBA", "BAAB"}) {
        receipt document = test::receipt_of({10, 10, 10, 10});
        for (std::size_t i = 0; i < 4; ++i) {
            const double time = (order[i] == 'A' ? 30 : 10) * std::exp(0.2 * static_cast<double>(i));
            document.arms[i] = test::block_of(order[i], 0, static_cast<int>(i), {time, time, time});
        }
        const analysis_facts facts = analyse(document);
        CHECK(*facts.speedup == Approx(3).epsilon(1e-12));
        CHECK(facts.details.at("drift_per_block") == Approx(0.2).epsilon(1e-12));
        CHECK(std::abs(facts.details.at("carry_over")) < 1e-12);
    }
}

TEST_CASE("from three quadruples on there is Student's interval of the mean log-ratio") {
    // d = ln 2 - 0.1, ln 2, ln 2 + 0.1: mean ln 2, standard deviation 0.1, t(2) = 4.30265.
    std::vector<double> medians;
    for (const double shift : {-0.1, 0.0, 0.1}) {
        const double a = 20 * std::exp(shift);
        for (const double time : {a, 10.0, 10.0, a}) medians.push_back(time);
    }
    const analysis_facts facts = analyse(test::receipt_of(medians));
    CHECK(*facts.speedup == Approx(2));
    REQUIRE(facts.interval95.has_value());
    const double half = 4.302652729911275 * 0.1 / std::sqrt(3.0);
    CHECK(facts.interval95->first == Approx(2 * std::exp(-half)).epsilon(1e-9));
    CHECK(facts.interval95->second == Approx(2 * std::exp(half)).epsilon(1e-9));
    CHECK(facts.details.at("interval_half_width") == Approx(std::sinh(half)).epsilon(1e-9));
    CHECK(facts.details.at("hodges_lehmann") == Approx(2));
    CHECK(facts.details.at("bootstrap95_low") < 2);
    CHECK(facts.details.at("bootstrap95_high") > 2);
    CHECK(facts.details.at("bootstrap95_low") > facts.interval95->first);
}

TEST_CASE("two quadruples give no interval, and equal ratios give one without width that says so") {
    CHECK_FALSE(analyse(test::receipt_of({10, 5, 5, 10, 10, 5, 5, 10})).interval95.has_value());
    const analysis_facts facts = analyse(test::receipt_of({10, 5, 5, 10, 10, 5, 5, 10, 10, 5, 5, 10}));
    REQUIRE(facts.interval95.has_value());
    CHECK(facts.interval95->first == facts.interval95->second);
    CHECK(facts.notes.back().find("no width") != std::string::npos);
}

TEST_CASE("a missing arm leaves its quadruple out, and none complete leaves no ratio") {
    receipt document = test::receipt_of({10, 5, 5, 10, 20, 5, 5, 20});
    document.arms.pop_back();
    analysis_facts facts = analyse(document);
    CHECK(facts.quadruples == 1);
    CHECK(*facts.speedup == Approx(2));
    document.arms.resize(3);
    facts = analyse(document);
    CHECK(facts.quadruples == 0);
    CHECK_FALSE(facts.speedup.has_value());
    CHECK_FALSE(facts.a_median_ms.has_value());
    CHECK_FALSE(facts.repeat_spread_a.has_value());
    document.arms.clear();
    CHECK_FALSE(analyse(document).max_loss_drift.has_value());
}

TEST_CASE("a zero, infinite or undefined time leaves its quadruple out") {
    for (const double wrong : {0.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        receipt document = test::receipt_of({10, 5, 5, 10});
        for (step_sample& step : document.arms[1].steps) step.wall_ms = wrong;
        CHECK_FALSE(analyse(document).speedup.has_value());
    }
}

TEST_CASE("a single step is its own median") {
    const analysis_facts facts = analyse(test::receipt_of({8, 4, 4, 8}, 1));
    CHECK(*facts.speedup == Approx(2));
    CHECK_FALSE(facts.details.contains("autocorrelation_a"));
}

TEST_CASE("loss drift is the largest relative difference of paired steps, whichever pair has it") {
    receipt document = test::receipt_of({10, 5, 5, 10});
    CHECK(*analyse(document).max_loss_drift == 0);
    document.arms[2].steps[1].loss = 5.375 * 0.99;  // the second B; its pair is the second A
    CHECK(*analyse(document).max_loss_drift == Approx(0.01));
    document.arms[0].steps[0].loss = std::nan("");
    CHECK_FALSE(analyse(document).max_loss_drift.has_value());
}

TEST_CASE("the relative difference is defined at zero and refuses what is not finite") {
    CHECK(*relative_difference(0, 0) == 0);
    CHECK(*relative_difference(0, 1) == 1);
    CHECK(*relative_difference(-1, 1) == 2);
    CHECK(*relative_difference(100, 99) == Approx(0.01));
    CHECK_FALSE(relative_difference(std::nan(""), 1).has_value());
}

TEST_CASE("carry-over shows where an arm slows the one that follows it") {
    // Whatever runs after a B takes 10 % longer.
    const double slow = 1.1;
    const receipt abba = test::receipt_of({10, 10, 10 * slow, 10 * slow});
    CHECK(std::abs(analyse(abba).details.at("carry_over")) > 0.04);
}

TEST_CASE("outliers are counted, named and left in") {
    receipt document = test::receipt_of({10, 5, 5, 10}, 9);
    for (arm_record& arm : document.arms)
        for (std::size_t i = 0; i < arm.steps.size(); ++i)
            arm.steps[i].wall_ms *= 1 + 0.001 * static_cast<double>(i % 3);
    const double before = *analyse(document).speedup;
    document.arms[0].steps[8].wall_ms = 1000;
    const analysis_facts facts = analyse(document);
    CHECK(facts.details.at("outlier_steps_a") == 1);
    CHECK(facts.details.at("outlier_steps_b") == 0);
    CHECK(std::any_of(facts.notes.begin(), facts.notes.end(),
                      [](const std::string& note) { return note.starts_with("1 of 18 steps of A"); }));
    CHECK(*facts.speedup == Approx(before).epsilon(1e-3));
}

TEST_CASE("figures filled in are those of the samples") {
    receipt document = test::receipt_of({10, 5, 5, 10});
    document.arms[0].steps = {{3, 5, {}}, {1, 4, {}}, {2, 3.5, {}}, {10, 3, {}}};
    fill_figures(document);
    CHECK(*document.arms[0].median_step_ms == 2.5);
    CHECK(*document.arms[0].final_loss == 3);
    document.arms[0].steps.clear();
    fill_figures(document);
    CHECK_FALSE(document.arms[0].median_step_ms.has_value());
    CHECK_FALSE(document.arms[0].final_loss.has_value());
}
