// Changes in a series of figures of one machine and one configuration, told from noise.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay {

/// The rule. A split of a series into "before" and "after" is a change when its CUSUM statistic, the largest over all
/// splits, is beaten by at most `false_alarm` of seeded random orders of the same values: so in a series whose values
/// could as well have come in any other order, a change is reported with a probability of at most `false_alarm` at each
/// look, whatever the distribution of the noise. A change must last `min_segment` values and be `smallest_change`
/// large.
struct trend_rule {
    double false_alarm = 0.005;
    int permutations = 1999;
    std::size_t min_segment = 3;
    double smallest_change = 0.01;  ///< relative
    std::uint64_t seed = 1;
};

/// The most values that are looked at: the newest ones. A bound on the work of one look.
inline constexpr std::size_t max_trend_values = 500;

/// One change.
struct trend_change {
    std::size_t first = 0;  ///< index of the first value that shows it
    double ratio = 1;       ///< level after over level before (geometric means)
    /// 95 % interval of the ratio: Welch on logarithms, the place of the change taken as known.
    std::pair<double, double> interval95;
    double chance = 1;  ///< fraction of random orders with as strong a change
};

/// The changes in `values` (all finite and above zero, oldest first), oldest first, found by splitting at the strongest
/// and looking again on either side. Empty for fewer than 2 * min_segment values and where a value is not above zero.
std::vector<trend_change> find_changes(std::span<const double> values, const trend_rule& rule = {});

}  // namespace assay
