#include "analysis/paired_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analysis/block_statistics.hpp"
#include "analysis/quadruple_statistics.hpp"
#include "analysis/quadruples.hpp"
#include "analysis/sample_statistics.hpp"
#include "analysis/stopping_rule.hpp"

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

// What the steps within the blocks look like: shown, in no figure above.
void add_step_details(const std::vector<quadruple>& quadruples, analysis_facts& out) {
    for (const char side : {'a', 'b'}) {
        std::vector<double> correlations;
        std::vector<double> effective;
        int outliers = 0;
        std::size_t steps = 0;
        for (const quadruple& one : quadruples) {
            for (const arm_record* block : side == 'a' ? one.a : one.b) {
                std::vector<double> times;
                for (const step_sample& step : block->steps) times.push_back(step.wall_ms);
                if (*std::min_element(times.begin(), times.end()) <= 0) continue;
                steps += times.size();
                outliers += count_outliers(times);
                if (const auto correlation = autocorrelation(times)) {
                    correlations.push_back(*correlation);
                    effective.push_back(effective_count(times.size(), *correlation));
                }
            }
        }
        const std::string suffix = std::string("_") + side;
        out.details["outlier_steps" + suffix] = outliers;
        if (const auto centre = mean(correlations)) out.details["autocorrelation" + suffix] = *centre;
        if (const auto centre = mean(effective)) out.details["effective_steps" + suffix] = *centre;
        if (outliers > 0)
            out.notes.push_back(std::to_string(outliers) + " of " + std::to_string(steps) + " steps of " +
                                (side == 'a' ? "A" : "B") + " lie far from their block's median; none was left out");
    }
}

void add_quadruple_details(const std::vector<quadruple>& quadruples, const std::vector<double>& log_ratios,
                           std::uint64_t seed, analysis_facts& out) {
    std::vector<double> drifts;
    std::vector<double> carried;
    for (const quadruple& one : quadruples) {
        drifts.push_back(drift_per_block(one));
        carried.push_back(carry_over(one));
    }
    out.details["drift_per_block"] = *mean(drifts);
    out.details["carry_over"] = *mean(carried);
    if (log_ratios.size() < static_cast<std::size_t>(min_interval_quadruples)) return;
    out.details["hodges_lehmann"] = std::exp(*hodges_lehmann(log_ratios));
    if (const auto interval = bootstrap_interval(log_ratios, interval_confidence, seed)) {
        out.details["bootstrap95_low"] = std::exp(interval->first);
        out.details["bootstrap95_high"] = std::exp(interval->second);
    }
    if (const auto interval = mean_interval(carried, interval_confidence)) {
        out.details["carry_over95_low"] = interval->first;
        out.details["carry_over95_high"] = interval->second;
        if (interval->first > 0 || interval->second < 0)
            out.notes.push_back(
                "A before B and A after B differ by more than chance explains: one arm may leave the "
                "machine in another state than the other, or drift bends");
    }
}

// Student's interval for a fixed count; the two-stage interval for a run that chose its count.
std::optional<std::pair<double, double>> interval_of_mean(const quadruple_plan& plan,
                                                          const std::vector<double>& log_ratios, analysis_facts& out) {
    if (!plan.automatic) return mean_interval(log_ratios, interval_confidence);
    const auto first = static_cast<std::size_t>(first_stage_quadruples(plan));
    if (log_ratios.size() < first) return std::nullopt;
    const stopping_decision decision = decide_quadruples(plan, std::span(log_ratios).first(first));
    out.details["first_stage_quadruples"] = static_cast<double>(first);
    out.details["quadruples_wanted"] = decision.wanted;
    if (decision.wanted > decision.quadruples)
        out.notes.push_back("the bound of " + std::to_string(plan.bound) +
                            " quadruples was met before the half-width asked for");
    return two_stage_interval(log_ratios, first, interval_confidence);
}

}  // namespace

std::optional<double> relative_difference(double x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return std::nullopt;
    const double scale = std::max(std::abs(x), std::abs(y));
    return scale == 0 ? 0 : std::abs(x - y) / scale;
}

analysis_facts analyse(const receipt& document) {
    if (is_published(document)) return document.analysis;
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
    add_step_details(quadruples, out);
    add_quadruple_details(quadruples, log_ratios, document.request.seed, out);

    if (out.quadruples < min_interval_quadruples) {
        out.notes.push_back(std::to_string(out.quadruples) + (out.quadruples == 1 ? " quadruple: " : " quadruples: ") +
                            "a point and a spread, no interval");
        return out;
    }
    const auto interval = interval_of_mean(document.request.quadruples, log_ratios, out);
    if (!interval) return out;
    out.interval95 = {std::exp(interval->first), std::exp(interval->second)};
    out.details["interval_half_width"] = (out.interval95->second - out.interval95->first) / (2 * *out.speedup);
    if (interval->first == interval->second)
        out.notes.push_back("every quadruple gave the same ratio: the interval has no width");
    return out;
}

bool is_published(const receipt& document) {
    return document.evidence != evidence_class::measured && document.evidence != evidence_class::derived &&
           document.arms.empty();
}

void fill_figures(receipt& document) {
    for (arm_record& block : document.arms) {
        block.median_step_ms = block_median_ms(block);
        block.final_loss = block_final_loss(block);
    }
    document.analysis = analyse(document);
}

}  // namespace assay
