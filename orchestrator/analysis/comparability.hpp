// May two receipts' numbers be compared, and what does the comparison say? The same code serves the command line and
// the API.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contract/receipt.hpp"
#include "core/result.hpp"

namespace assay {

/// What a field that differs means for a comparison.
enum class difference_kind {
    work,        ///< the two did not do the same work: their times say nothing about each other
    proof,       ///< one of them is not a measurement that holds
    conditions,  ///< the same work elsewhere or otherwise: what a comparison is usually about
};
std::string_view difference_kind_name(difference_kind kind);

/// One field that differs.
struct difference {
    difference_kind kind = difference_kind::conditions;
    std::string field;          ///< JSON pointer into the inner receipt
    std::string first, second;  ///< its values as text; "absent" where there is none
    std::string why;            ///< one sentence: why it matters
    bool operator==(const difference&) const = default;
};

/// A quotient with what stands behind it.
struct compared_ratio {
    double value = 0;
    std::optional<std::pair<double, double>> interval95;  ///< absent below three quadruples on either side
};

struct comparison {
    bool same_work = false;   ///< no difference of kind work
    bool comparable = false;  ///< no difference of kind work or proof
    std::vector<difference> differences;
    /// Second over first: speedup, and how much faster the second's A and B are (first's time over second's). Above 1:
    /// the second is better. Given whenever the figures exist; worth something only where `comparable`.
    std::optional<compared_ratio> speedup_ratio, a_ratio, b_ratio;
};

/// Compares `second` with `first`, the baseline. The intervals are Welch's t of the quadruples' logarithms.
comparison compare(const receipt& first, const receipt& second);

/// The comparison as text with aligned columns, as `assay compare` prints it.
std::string comparison_text(const receipt& first, const receipt& second, const comparison& outcome);
/// The comparison as one JSON object.
std::string comparison_json(const receipt& first, const receipt& second, const comparison& outcome);
/// The figures by the names that fail_condition knows: ratio, ratio_low, ratio_high, a_ratio, b_ratio, first_speedup,
/// second_speedup, drift (the second's). What does not exist is absent.
std::map<std::string, double> comparison_figures(const receipt& first, const receipt& second,
                                                 const comparison& outcome);

}  // namespace assay
