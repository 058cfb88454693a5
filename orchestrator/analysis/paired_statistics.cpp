#include "analysis/paired_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analysis/quadruples.hpp"
#include "analysis/sample_statistics.hpp"

namespace assay {
namespace {

std::optional<double> block_pair_drift(const arm_record& a, const arm_record& b) {
    std::optional<double> largest;
    const std::size_t count = std::min(a.steps.size(), b.steps.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto difference = relative_difference(a.steps[i].loss, b.steps[i].loss);
        if (!difference) return std::nullopt;
        largest = std::max(largest.value_or(0), *difference);
    }
    return largest;
}

// Over every pair that ran, complete quadruple or not: a wrong loss counts although a later block failed.
std::optional<double> largest_loss_drift(const receipt& document) {
    std::map<int, std::pair<std::vector<const arm_record*>, std::vector<const arm_record*>>> blocks;
    for (const arm_record& block : document.arms) {
        if (block.steps.empty()) continue;
        auto& pair = blocks[block.quadruple];
        (block.block == 'A' ? pair.first : pair.second).push_back(&block);
    }
    std::optional<double> largest;
    for (const auto& [index, pair] : blocks) {
        const std::size_t count = std::min(pair.first.size(), pair.second.size());
        for (std::size_t k = 0; k < count; ++k) {
            const auto drift = block_pair_drift(*pair.first[k], *pair.second[k]);
            if (!drift) return std::nullopt;
            largest = std::max(largest.value_or(0), *drift);
        }
    }
    return largest;
}

}  // namespace

std::optional<double> relative_difference(double x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return std::nullopt;
    const double scale = std::max(std::abs(x), std::abs(y));
    return scale == 0 ? 0 : std::abs(x - y) / scale;
}

analysis_facts analyse(const receipt& document) {
    analysis_facts out;
    out.max_loss_drift = largest_loss_drift(document);
    const std::vector<quadruple> quadruples = complete_quadruples(document);
    out.quadruples = static_cast<int>(quadruples.size());
    if (quadruples.empty()) {
        out.notes.push_back("no quadruple is complete: no ratio");
        return out;
    }

    std::vector<double> log_ratios;
    double log_a = 0;
    double log_b = 0;
    double spread_a = 0;
    double spread_b = 0;
    for (const quadruple& one : quadruples) {
        log_ratios.push_back(one.log_ratio());
        log_a += one.log_a[0] + one.log_a[1];
        log_b += one.log_b[0] + one.log_b[1];
        spread_a = std::max(spread_a, std::abs(one.log_a[0] - one.log_a[1]));
        spread_b = std::max(spread_b, std::abs(one.log_b[0] - one.log_b[1]));
    }
    const double count = static_cast<double>(quadruples.size());
    const double centre = *mean(log_ratios);
    out.a_median_ms = std::exp(log_a / (2 * count));
    out.b_median_ms = std::exp(log_b / (2 * count));
    out.speedup = std::exp(centre);
    out.repeat_spread_a = spread_a;
    out.repeat_spread_b = spread_b;
    out.details["mean_log_ratio"] = centre;
    if (const auto deviation = standard_deviation(log_ratios)) out.details["log_ratio_sd"] = *deviation;

    if (out.quadruples < min_interval_quadruples) {
        out.notes.push_back(std::to_string(out.quadruples) + (out.quadruples == 1 ? " quadruple: " : " quadruples: ") +
                            "a point and a spread, no interval");
        return out;
    }
    const auto interval = mean_interval(log_ratios, interval_confidence);
    out.interval95 = {std::exp(interval->first), std::exp(interval->second)};
    out.details["interval_half_width"] = (out.interval95->second - out.interval95->first) / (2 * *out.speedup);
    if (interval->first == interval->second)
        out.notes.push_back("every quadruple gave the same ratio: the interval has no width");
    return out;
}

void fill_figures(receipt& document) {
    for (arm_record& block : document.arms) {
        block.median_step_ms = block_median_ms(block);
        block.final_loss = block_final_loss(block);
    }
    document.analysis = analyse(document);
}

}  // namespace assay
