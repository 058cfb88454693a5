#include "analysis/quadruple_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/sample_statistics.hpp"
#include "core/random.hpp"

namespace assay {

std::optional<std::pair<double, double>> bootstrap_interval(std::span<const double> values, double confidence,
                                                            std::uint64_t seed, int resamples) {
    if (values.size() < 3 || !mean(values) || resamples < 100) return std::nullopt;
    // Keeps these random numbers apart from the plan's, which come from the same seed.
    constexpr std::uint64_t bootstrap_domain = 0x426f6f7473747261ULL;
    seeded_random random(seed ^ bootstrap_domain);
    std::vector<double> means(static_cast<std::size_t>(resamples));
    for (double& centre : means) {
        double sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i) sum += values[random.below(values.size())];
        centre = sum / static_cast<double>(values.size());
    }
    std::sort(means.begin(), means.end());
    const double tail = (1 - confidence) / 2;
    const auto low = static_cast<std::size_t>(std::floor(tail * (resamples - 1)));
    return std::pair{means[low], means[means.size() - 1 - low]};
}

std::optional<double> hodges_lehmann(std::span<const double> values) {
    std::vector<double> averages;
    averages.reserve(values.size() * (values.size() + 1) / 2);
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
    return median(averages);
}

double drift_per_block(const quadruple& one) {
    return (one.log_a[1] - one.log_a[0] + one.log_b[1] - one.log_b[0]) / 4;
}

double carry_over(const quadruple& one) {
    const double change_a = one.log_a[1] - one.log_a[0];
    const double change_b = one.log_b[1] - one.log_b[0];
    const double ab_less_ba = one.baab ? change_a - change_b : change_b - change_a;
    return ab_less_ba + 2 * drift_per_block(one);
}

}  // namespace assay
