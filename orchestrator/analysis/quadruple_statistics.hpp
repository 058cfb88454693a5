// Figures over the quadruples of a run, beside the mean of d and its interval.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/quadruples.hpp"

namespace assay {

inline constexpr int bootstrap_resamples = 10000;

/// The percentile interval of the mean over `resamples` resamples of whole values, drawn from `seed`. For few values it
/// is too narrow (by about sqrt((n - 1) / n) and the missing t): shown beside Student's, never in its place. Absent
/// below three values.
std::optional<std::pair<double, double>> bootstrap_interval(std::span<const double> values, double confidence,
                                                            std::uint64_t seed, int resamples = bootstrap_resamples);

/// The median of all (x_i + x_j) / 2 with i <= j (Hodges and Lehmann, 1963): a centre that one wild value does not move
/// far. Absent for no values.
std::optional<double> hodges_lehmann(std::span<const double> values);

/// Drift of ln time per block within one quadruple, from the repeats of either arm: (A2 - A1 + B2 - B1) / 4, since the
/// outer pair lies three positions apart and the inner one lies one. Above zero: blocks became slower.
double drift_per_block(const quadruple& one);

/// How much more A costs before B than after it, in ln time, once linear drift is taken out: 0 without carry-over and
/// without a drift that bends. (AB half less BA half, plus twice the drift per block.)
double carry_over(const quadruple& one);

}  // namespace assay
