#include "gemm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "philox.hpp"

using namespace assay::trainer;

namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(philox_words(seed, philox_stream::weights, i)[0]) * 0x1p-31f - 1.0f;
    return values;
}

double gelu_of(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {
    const double t = std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

struct product {
    int m, n, k;
    bool a_transposed, b_transposed;
    epilogue_kind kind;
    std::vector<float> a, b, bias, other, c, second, sums, scratch;

    product(int m, int n, int k, bool a_transposed, bool b_transposed, epilogue_kind kind)
        : m(m), n(n), k(k), a_transposed(a_transposed), b_transposed(b_transposed), kind(kind) {
        a = random_floats(static_cast<std::size_t>(m) * k, 1);
        b = random_floats(static_cast<std::size_t>(k) * n, 2);
        bias = random_floats(n, 3);
        other = random_floats(static_cast<std::size_t>(m) * n, 4);
        // A guard behind every result shows a tile that writes past its edge.
        c.assign(static_cast<std::size_t>(m) * n + 8, 777.0f);
        second.assign(c.size(), 777.0f);
        sums.assign(static_cast<std::size_t>(n) + 8, 777.0f);
        scratch.assign(gemm_scratch_floats(m, n, k, a_transposed) + 8, 777.0f);
    }

    void run(thread_pool& pool) {
        gemm_call call{m,
                       n,
                       k,
                       {a.data(), a_transposed ? m : k, a_transposed},
                       {b.data(), b_transposed ? k : n, b_transposed},
                       c.data()};
        call.finish = {kind, bias.data(), other.data(), second.data()};
        if (!b_transposed) call.column_sums = sums.data();
        gemm(pool, scratch.data(), call);
    }

    /// The largest difference from the product in double, in units of the sum of magnitudes times float's epsilon.
    void check() const {
        double worst = 0.0;
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
                double sum = 0.0, magnitude = 1.0;
                for (int p = 0; p < k; ++p) {
                    const double term =
                        double{a[a_transposed ? p * m + i : i * k + p]} * b[b_transposed ? j * k + p : p * n + j];
                    sum += term;
                    magnitude += std::fabs(term);
                }
                const std::size_t at = static_cast<std::size_t>(i) * n + j;
                double expected = sum;
                if (kind == epilogue_kind::add_bias || kind == epilogue_kind::bias_gelu) expected = sum + bias[j];
                if (kind == epilogue_kind::bias_residual) expected = sum + bias[j] + other[at];
                if (kind == epilogue_kind::gelu_gradient) expected = sum * gelu_slope(other[at]);
                worst = std::max(worst, std::fabs(c[at] - expected) / magnitude);
                if (kind == epilogue_kind::bias_gelu)
                    worst =
                        std::max(worst, std::fabs(second[at] - gelu_of(expected)) / (magnitude + std::fabs(expected)));
            }
        }
        CHECK(worst < 1e-6);
        for (std::size_t i = static_cast<std::size_t>(m) * n; i < c.size(); ++i) CHECK(c[i] == 777.0f);
        for (std::size_t i = scratch.size() - 8; i < scratch.size(); ++i) CHECK(scratch[i] == 777.0f);
        if (!b_transposed) {
            for (int j = 0; j < n; ++j) {
                double sum = 0.0;
                for (int p = 0; p < k; ++p) sum += b[p * n + j];
                CHECK(sums[j] == doctest::Approx(sum).epsilon(1e-4));
            }
            for (std::size_t j = n; j < sums.size(); ++j) CHECK(sums[j] == 777.0f);
        }
    }
};

}  // namespace

TEST_CASE("the packed product agrees with double precision over odd shapes, transposes and epilogues") {
    const int sizes[][3] = {{1, 1, 1},   {1, 17, 5},   {3, 2, 400},   {4, 8, 16},    {5, 9, 33},     {7, 31, 385},
                            {13, 16, 1}, {96, 96, 96}, {97, 95, 129}, {100, 250, 3}, {193, 40, 770}, {33, 257, 48}};
    const epilogue_kind kinds[] = {epilogue_kind::store, epilogue_kind::add_bias, epilogue_kind::bias_residual,
                                   epilogue_kind::bias_gelu, epilogue_kind::gelu_gradient};
    thread_pool pool(2);
    int turn = 0;
    for (const auto& [m, n, k] : sizes) {
        for (const bool a_transposed : {false, true}) {
            for (const bool b_transposed : {false, true}) {
                const epilogue_kind kind = kinds[turn++ % 5];
                CAPTURE(m);
                CAPTURE(n);
                CAPTURE(k);
                CAPTURE(a_transposed);
                CAPTURE(b_transposed);
                product p(m, n, k, a_transposed, b_transposed, kind);
                p.run(pool);
                p.check();
            }
        }
    }
}

TEST_CASE("the packed product gives the same bits for any number of threads") {
    for (const bool a_transposed : {false, true}) {
        thread_pool alone(1);
        product first(150, 210, 500, a_transposed, false, epilogue_kind::bias_gelu);
        first.run(alone);
        for (const int threads : {2, 3, 8}) {
            thread_pool pool(threads);
            product other(150, 210, 500, a_transposed, false, epilogue_kind::bias_gelu);
            other.run(pool);
            CHECK(other.c == first.c);
            CHECK(other.second == first.second);
            CHECK(other.sums == first.sums);
        }
    }
}
