#include "analysis/trend.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/sample_statistics.hpp"
#include "core/random.hpp"

namespace assay {
namespace {

struct strongest_split {
    std::size_t at = 0;   ///< first index of the second part
    double strength = 0;  ///< |sum of the first k less its share| / sqrt(k (n - k) / n)
};

// The sum of squares is the same in every order, so the CUSUM statistic needs no division by the deviation here.
strongest_split find_strongest(std::span<const double> values, std::size_t min_segment) {
    const double count = static_cast<double>(values.size());
    double total = 0;
    for (double value : values) total += value;
    strongest_split best;
    double sum = 0;
    for (std::size_t k = 1; k < values.size(); ++k) {
        sum += values[k - 1];
        if (k < min_segment || values.size() - k < min_segment) continue;
        const double first = static_cast<double>(k);
        const double strength = std::abs(sum - first / count * total) / std::sqrt(first * (count - first) / count);
        if (strength > best.strength) best = {k, strength};
    }
    return best;
}

/// Where a part of the series splits, and how rarely chance alone splits it so strongly.
struct split_point {
    std::size_t at = 0;
    double chance = 1;
};

void split(std::span<const double> logarithms, std::size_t offset, const trend_rule& rule, seeded_random& random,
           std::vector<split_point>& out) {
    if (logarithms.size() < 2 * rule.min_segment) return;
    const strongest_split found = find_strongest(logarithms, rule.min_segment);
    if (found.at == 0) return;
    std::vector<double> shuffled(logarithms.begin(), logarithms.end());
    int as_strong = 0;
    for (int i = 0; i < rule.permutations; ++i) {
        for (std::size_t k = shuffled.size() - 1; k > 0; --k) std::swap(shuffled[k], shuffled[random.below(k + 1)]);
        // Rounding must not let an equal order look weaker.
        if (find_strongest(shuffled, rule.min_segment).strength >= found.strength * (1 - 1e-12)) ++as_strong;
    }
    // The observed order counts as one of them: that makes the rate exact.
    const double chance = (as_strong + 1.0) / (rule.permutations + 1.0);
    if (chance > rule.false_alarm) return;
    split(logarithms.first(found.at), offset, rule, random, out);
    out.push_back({offset + found.at, chance});
    split(logarithms.subspan(found.at), offset + found.at, rule, random, out);
}

/// The change at points[index], between the levels on either side up to the neighbouring points.
trend_change change_at(std::span<const double> logarithms, const std::vector<split_point>& points, std::size_t index) {
    const std::size_t begin = index == 0 ? 0 : points[index - 1].at;
    const std::size_t end = index + 1 == points.size() ? logarithms.size() : points[index + 1].at;
    const std::size_t at = points[index].at;
    const auto before = logarithms.subspan(begin, at - begin);
    const auto after = logarithms.subspan(at, end - at);
    const double change = *mean(after) - *mean(before);
    const double half = welch_half_width(before, after, 0.95).value_or(0);
    return {at, std::exp(change), {std::exp(change - half), std::exp(change + half)}, points[index].chance};
}

}  // namespace

std::vector<trend_change> find_changes(std::span<const double> values, const trend_rule& rule) {
    const std::size_t skipped = values.size() > max_trend_values ? values.size() - max_trend_values : 0;
    std::vector<double> logarithms;
    for (double value : values.subspan(skipped)) {
        if (!(value > 0) || !std::isfinite(value)) return {};
        logarithms.push_back(std::log(value));
    }
    seeded_random random(rule.seed);
    std::vector<split_point> points;
    split(logarithms, 0, rule, random, points);
    std::vector<trend_change> out;
    // Too small a change is dropped and its neighbours measured anew, the smallest first.
    while (true) {
        out.clear();
        for (std::size_t i = 0; i < points.size(); ++i) out.push_back(change_at(logarithms, points, i));
        const auto smallest =
            std::min_element(out.begin(), out.end(), [](const trend_change& x, const trend_change& y) {
                return std::abs(std::log(x.ratio)) < std::abs(std::log(y.ratio));
            });
        if (smallest == out.end() || std::abs(std::log(smallest->ratio)) >= std::log1p(rule.smallest_change)) break;
        points.erase(points.begin() + (smallest - out.begin()));
    }
    for (trend_change& change : out) change.first += skipped;
    return out;
}

}  // namespace assay
