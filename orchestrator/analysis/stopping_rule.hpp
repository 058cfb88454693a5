// How many quadruples a run makes when it may choose, and the interval that stays honest about the choice.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "contract/receipt.hpp"

namespace assay {

/// Quadruples of the first stage of an automatic run: enough for a usable standard deviation (t of 5 degrees is 2.57),
/// few enough that a precise machine is done with them.
inline constexpr int first_stage_size = 6;

/// What the first stage makes: first_stage_size, or the bound where that is smaller. `count` when not automatic.
int first_stage_quadruples(const quadruple_plan& plan);

/// Stein's two-stage rule (C. Stein, "A two-sample test for a linear hypothesis whose power is independent of the
/// variance", Ann. Math. Statist. 16, 1945): with s the standard deviation of the n0 log-ratios of the first stage and
/// h the half-width asked for, as a logarithm, N = max(n0, ceil((t s / h)^2)), t of n0 - 1 degrees; at most the bound.
/// Stopping as soon as the usual interval is narrow enough would cover the truth too seldom (about 90 % for 95 %): it
/// stops when the spread happens to look small. Here N depends on the first stage's spread alone, of which the mean is
/// independent, so the interval below is exact for normal log-ratios, bound or no bound.
struct stopping_decision {
    int quadruples = 0;  ///< in all, first stage included; at most the bound
    double wanted = 0;   ///< what the half-width asks for, bound or no bound
};
/// `first_stage`: the log-ratios of the first stage, at least two of them.
stopping_decision decide_quadruples(const quadruple_plan& plan, std::span<const double> first_stage);

/// mean plus or minus t s / sqrt(N), t and s of the first `first_stage` values alone; absent below two of them.
std::optional<std::pair<double, double>> two_stage_interval(std::span<const double> values, std::size_t first_stage,
                                                            double confidence);

/// How many quadruples the run behind `document` makes in all, as far as its samples tell yet: a fixed count as asked;
/// the first stage while that is not complete; then what decide_quadruples says.
int quadruples_to_run(const receipt& document);

}  // namespace assay
