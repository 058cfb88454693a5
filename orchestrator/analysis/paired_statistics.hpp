// Every figure of a receipt, from its raw samples alone. docs/method.md explains each.
#pragma once

#include <optional>

#include "contract/receipt.hpp"

namespace assay {

/// Fewer quadruples than this give a point and a spread, and no interval.
inline constexpr int min_interval_quadruples = 3;
inline constexpr double interval_confidence = 0.95;

/// Recomputes the analysis of `document` from the steps of its arms; stored figures are not looked at.
///
/// - a_median_ms, b_median_ms: the geometric mean of the block medians over the complete quadruples, so that their
///   quotient is exactly the speedup.
/// - speedup: exp(mean d) with d of each complete quadruple as quadruple::log_ratio(); A's time over B's.
/// - interval95: exp of Student's t interval of the mean of d, from three quadruples on; of the two-stage interval
///   (stopping_rule.hpp) where the run chose its own count.
/// - repeat_spread_x: the largest |ln x1 - ln x2| over the complete quadruples.
/// - max_loss_drift: the largest relative_difference of the losses of the k-th A and the k-th B block of a quadruple at
///   the same step, over every pair of blocks that ran; absent where no pair did or a loss is not finite.
/// A receipt of published figures has no samples: its figures are handed back as stated.
analysis_facts analyse(const receipt& document);

/// Observed, historical, projected or not-measured evidence without any sample: figures that somebody stated.
bool is_published(const receipt& document);

/// |x - y| / max(|x|, |y|), from 0 to 2; 0 where both are 0. Absent where one is not finite.
std::optional<double> relative_difference(double x, double y);

/// Writes each block's median_step_ms and final_loss and the receipt's analysis from the samples.
void fill_figures(receipt& document);

}  // namespace assay
