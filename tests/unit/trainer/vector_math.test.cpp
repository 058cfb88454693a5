#include "vector_math.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace assay::trainer;

namespace {

template <class Function>
float lane(Function function, float x) {
    float lanes[vec_width];
    store(lanes, function(splat(x)));
    for (int i = 1; i < vec_width; ++i) REQUIRE(lanes[i] == lanes[0]);
    return lanes[0];
}

}  // namespace

TEST_CASE("exp stays within its stated relative error") {
    double worst = 0.0;
    for (float x = -87.0f; x <= 88.0f; x += 0.00317f)
        worst = std::max(worst, std::fabs(lane([](vec v) { return exp(v); }, x) / std::exp(double{x}) - 1.0));
    CHECK(worst < 2.5e-7);
    CHECK(worst > 1e-8);
}

TEST_CASE("exp clamps what float cannot hold") {
    for (const float x : {-88.0f, -1000.0f, -INFINITY}) {
        CHECK(lane([](vec v) { return exp(v); }, x) > 0.0f);
        CHECK(lane([](vec v) { return exp(v); }, x) < 2e-38f);
    }
    for (const float x : {89.0f, 1000.0f, INFINITY}) CHECK(std::isfinite(lane([](vec v) { return exp(v); }, x)));
    CHECK(lane([](vec v) { return exp(v); }, 0.0f) == 1.0f);
}

TEST_CASE("gelu and its derivative stay within their stated errors and end where they should") {
    double worst = 0.0, worst_slope = 0.0;
    for (float x = -12.0f; x <= 12.0f; x += 0.00131f) {
        const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * double{x} * x * x);
        const double t = std::tanh(u);
        const double expected = 0.5 * x * (1 + t);
        const double slope =
            0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * double{x} * x);
        worst = std::max(
            worst, std::fabs(lane([](vec v) { return gelu(v); }, x) - expected) / std::max(1.0, std::fabs(double{x})));
        worst_slope = std::max(worst_slope, std::fabs(lane([](vec v) { return gelu_derivative(v); }, x) - slope));
    }
    CHECK(worst < 5e-7);
    CHECK(worst_slope < 2e-6);
    for (const float x : {50.0f, 1e4f}) {
        CHECK(lane([](vec v) { return gelu(v); }, x) == x);
        CHECK(lane([](vec v) { return gelu_derivative(v); }, x) == doctest::Approx(1.0));
        CHECK(std::fabs(lane([](vec v) { return gelu(v); }, -x)) < 1e-30f);
        CHECK(std::fabs(lane([](vec v) { return gelu_derivative(v); }, -x)) < 1e-20f);
    }
}

TEST_CASE("partial loads and stores touch only their lanes") {
    float values[vec_width + 1];
    for (int i = 0; i <= vec_width; ++i) values[i] = static_cast<float>(i + 1);
    for (int count = 1; count <= vec_width; ++count) {
        const vec v = load_partial(values, count);
        float out[vec_width + 1];
        std::fill(out, out + vec_width + 1, -1.0f);
        store_partial(out, v, count);
        for (int i = 0; i <= vec_width; ++i) CHECK(out[i] == (i < count ? values[i] : -1.0f));
        CHECK(sum_lanes(v) == static_cast<float>(count * (count + 1) / 2));
    }
}
