// Figures of the steps within a block.
#pragma once

#include <optional>
#include <span>

namespace assay {

/// Below so many steps a block says too little about its own autocorrelation.
inline constexpr std::size_t min_autocorrelation_steps = 8;
/// A step is an outlier when the logarithm of its time lies further from the block's median than this many scaled
/// median absolute deviations. Outliers are counted and shown; none is ever left out.
inline constexpr double outlier_deviations = 5;

/// Autocorrelation of lag 1 of the logarithms of `times` (all above zero), about their mean, with the first-order
/// correction for its bias, (r n + 1) / (n - 3) (Kendall 1954), kept within -0.99..0.99. Absent below
/// min_autocorrelation_steps and where all are equal.
std::optional<double> autocorrelation(std::span<const double> times);

/// How many independent steps would say as much about the mean as `count` of this autocorrelation:
/// n (1 - r) / (1 + r), the formula of a first-order autoregression; between 1 and n.
double effective_count(std::size_t count, double autocorrelation);

/// How many of `times` (all above zero) are outliers.
int count_outliers(std::span<const double> times);

}  // namespace assay
