// Seeded runs of two arms on a noisy machine, for tests of coverage: linear drift, steps autocorrelated at 0.5, heavy
// tails in steps and in blocks. (No browser behaves so badly; a rule that holds here holds there.)
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace assay::test {

struct noise {
    double log_ratio = 0;         ///< ln(A's time / B's time)
    double drift_a_block = 0.01;  ///< linear, in ln time a block
    double block_sd = 0.01;       ///< of ln time, between processes
    double step_sd = 0.05;        ///< of ln time, between steps
    double autocorrelation = 0.5;
    int steps = 20;
};

inline double standard_normal(seeded_random& random) {
    const double u = 1 - random.uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.uniform());
}

/// Student's t with three degrees of freedom, scaled to variance 1: a kurtosis without bound.
inline double heavy_tailed(seeded_random& random) {
    const double centre = standard_normal(random);
    double chi_squared = 0;
    for (int i = 0; i < 3; ++i) {
        const double z = standard_normal(random);
        chi_squared += z * z;
    }
    return centre / std::sqrt(chi_squared / 3) / std::sqrt(3.0);
}

/// Times in ms of one block's steps.
inline std::vector<double> simulated_block(const noise& of, char block, int index, seeded_random& random) {
    std::vector<double> times(static_cast<std::size_t>(of.steps));
    const double level = (block == 'A' ? of.log_ratio : 0) + of.block_sd * heavy_tailed(random);
    double previous = heavy_tailed(random);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const double fresh = heavy_tailed(random);
        if (i > 0)
            previous = of.autocorrelation * previous + std::sqrt(1 - of.autocorrelation * of.autocorrelation) * fresh;
        const double moment = index + static_cast<double>(i) / of.steps;
        times[i] = 100 * std::exp(level + of.step_sd * previous + of.drift_a_block * moment);
    }
    return times;
}

/// ln(A / B) of each quadruple of a run planned from `seed`, as the statistics define it.
inline std::vector<double> simulated_log_ratios(const noise& of, int quadruples, std::uint64_t seed) {
    seeded_random random(seed ^ 0x73696d756c617465ULL);
    // One of each order in turn, the first by the seed, as the plan of a run has it.
    std::string plan;
    for (int i = 0; i < quadruples; ++i) plan += (static_cast<std::uint64_t>(i) + seed) % 2 == 0 ? "ABBA" : "BAAB";
    std::vector<double> out;
    for (std::size_t first = 0; first < plan.size(); first += 4) {
        double d = 0;
        for (std::size_t i = first; i < first + 4; ++i) {
            std::vector<double> times = simulated_block(of, plan[i], static_cast<int>(i), random);
            std::nth_element(times.begin(), times.begin() + of.steps / 2, times.end());
            d += (plan[i] == 'A' ? 0.5 : -0.5) * std::log(times[static_cast<std::size_t>(of.steps / 2)]);
        }
        out.push_back(d);
    }
    return out;
}

}  // namespace assay::test
