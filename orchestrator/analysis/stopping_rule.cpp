#include "analysis/stopping_rule.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/paired_statistics.hpp"
#include "analysis/quadruples.hpp"
#include "analysis/sample_statistics.hpp"

namespace assay {

int first_stage_quadruples(const quadruple_plan& plan) {
    return plan.automatic ? std::min(first_stage_size, plan.bound) : plan.count;
}

stopping_decision decide_quadruples(const quadruple_plan& plan, std::span<const double> first_stage) {
    const int begun = static_cast<int>(first_stage.size());
    const auto deviation = standard_deviation(first_stage);
    if (!deviation) return {plan.bound, static_cast<double>(plan.bound)};
    // The half-width asked for is relative: (high - low) / 2 / speedup = sinh(half-width of the logarithm).
    const double half_width = std::asinh(plan.half_width);
    const double t = student_t_two_sided(interval_confidence, begun - 1);
    const double ratio = t * *deviation / half_width;
    const double wanted = std::max(static_cast<double>(begun), std::ceil(ratio * ratio));
    return {static_cast<int>(std::min(wanted, static_cast<double>(plan.bound))), wanted};
}

std::optional<std::pair<double, double>> two_stage_interval(std::span<const double> values, std::size_t first_stage,
                                                            double confidence) {
    if (values.size() < first_stage) return std::nullopt;
    const auto centre = mean(values);
    const auto deviation = standard_deviation(values.first(first_stage));
    if (!centre || !deviation) return std::nullopt;
    const double t = student_t_two_sided(confidence, static_cast<double>(first_stage) - 1);
    const double half = t * *deviation / std::sqrt(static_cast<double>(values.size()));
    return std::pair{*centre - half, *centre + half};
}

int quadruples_to_run(const receipt& document) {
    const quadruple_plan& plan = document.request.quadruples;
    const int first = first_stage_quadruples(plan);
    if (!plan.automatic) return first;
    std::vector<double> log_ratios;
    for (const quadruple& one : complete_quadruples(document)) log_ratios.push_back(one.log_ratio());
    if (static_cast<int>(log_ratios.size()) < first) return first;
    log_ratios.resize(static_cast<std::size_t>(first));
    return decide_quadruples(plan, log_ratios).quadruples;
}

}  // namespace assay
