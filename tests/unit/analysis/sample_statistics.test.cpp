#include "analysis/sample_statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "analysis/block_statistics.hpp"
#include "analysis/quadruple_statistics.hpp"
#include "unit/analysis/simulated_runs.hpp"

using namespace assay;
using doctest::Approx;
using list = std::vector<double>;

TEST_CASE("the median of an even count is the mean of the two middle values") {
    CHECK(*median(list{4, 1, 3, 2}) == 2.5);
    CHECK(*median(list{3, 1, 2}) == 2);
    CHECK(*median(list{7}) == 7);
    CHECK_FALSE(median(list{}).has_value());
    CHECK_FALSE(median(list{1, std::nan("")}).has_value());
    CHECK(*median(list{1.7e308, 1.7e308}) == 1.7e308);
}

TEST_CASE("one value has no standard deviation, which is not a deviation of zero") {
    CHECK_FALSE(standard_deviation(list{1}).has_value());
    CHECK(*standard_deviation(list{1, 1}) == 0);
    CHECK(*standard_deviation(list{1, 3}) == Approx(std::sqrt(2.0)));
    CHECK_FALSE(mean_interval(list{1}, 0.95).has_value());
}

TEST_CASE("Student's t agrees with the published table") {
    CHECK(student_t_two_sided(0.95, 2) == Approx(4.30265).epsilon(1e-5));
    CHECK(student_t_two_sided(0.95, 5) == Approx(2.57058).epsilon(1e-5));
    CHECK(student_t_two_sided(0.95, 120) == Approx(1.97993).epsilon(1e-5));
    CHECK(student_t_two_sided(0.99, 10) == Approx(3.16927).epsilon(1e-5));
}

TEST_CASE("Hodges and Lehmann's centre does not follow one wild value") {
    CHECK(*hodges_lehmann(list{1, 2, 3}) == 2);
    CHECK(*hodges_lehmann(list{1, 2, 3, 4, 1000}) < 4);
    CHECK_FALSE(hodges_lehmann(list{}).has_value());
}

TEST_CASE("the bootstrap is the same for the same seed, and covers about what it should for many values") {
    list values;
    seeded_random random(3);
    for (int i = 0; i < 100; ++i) values.push_back(test::standard_normal(random));
    const auto first = bootstrap_interval(values, 0.95, 42);
    CHECK(first == bootstrap_interval(values, 0.95, 42));
    CHECK(first != bootstrap_interval(values, 0.95, 43));
    const auto student = mean_interval(values, 0.95);
    CHECK(first->first == Approx(student->first).epsilon(0.1));
    CHECK(first->second == Approx(student->second).epsilon(0.1));
    CHECK_FALSE(bootstrap_interval(list{1, 2}, 0.95, 1).has_value());
}

TEST_CASE("autocorrelation finds 0.5 where there is 0.5, and nothing where there is nothing") {
    for (const double truth : {0.0, 0.5}) {
        test::noise of;
        of.autocorrelation = truth;
        of.drift_a_block = 0;
        seeded_random random(11);
        double sum = 0;
        for (int i = 0; i < 400; ++i) sum += *autocorrelation(test::simulated_block(of, 'A', 0, random));
        CHECK(sum / 400 == Approx(truth).epsilon(0.05).scale(1));
    }
    CHECK_FALSE(autocorrelation(list(20, 5.0)).has_value());
    CHECK_FALSE(autocorrelation(list{1, 2, 1, 2}).has_value());
}

TEST_CASE("autocorrelated steps count for fewer, and never for more than there are") {
    CHECK(effective_count(20, 0) == 20);
    CHECK(effective_count(20, 0.5) == Approx(20.0 / 3));
    CHECK(effective_count(20, -0.5) == 20);
    CHECK(effective_count(20, 0.99) == 1);
}

TEST_CASE("outliers are those far from the median on the scale of the others") {
    CHECK(count_outliers(list{10, 10.1, 9.9, 10.05, 9.95, 30}) == 1);
    CHECK(count_outliers(list{10, 11, 9, 10.5, 9.5, 12}) == 0);
    CHECK(count_outliers(list{10, 10, 10, 10, 10.001}) == 0);
    CHECK(count_outliers(list{10, 10, 10, 10, 11}) == 1);
}
