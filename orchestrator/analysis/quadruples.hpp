// The blocks of a receipt, grouped into quadruples.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "contract/receipt.hpp"

namespace assay {

/// The median wall time of a block's timed steps in ms; absent without steps and where a time is not finite.
std::optional<double> block_median_ms(const arm_record& block);

/// The last timed step's loss; absent without steps and where it is not finite.
std::optional<double> block_final_loss(const arm_record& block);

/// Two blocks of A and two of B, each in the order they ran.
struct quadruple {
    int index = 0;
    std::array<const arm_record*, 2> a{};
    std::array<const arm_record*, 2> b{};
    bool baab = false;  ///< ran B A A B

    /// Natural logarithms of the block medians (in ms).
    std::array<double, 2> log_a{}, log_b{};
    /// (ln A1 + ln A2 - ln B1 - ln B2) / 2: what linear drift over the four blocks cancels out of.
    double log_ratio() const { return (log_a[0] + log_a[1] - log_b[0] - log_b[1]) / 2; }
};

/// The complete quadruples in order: exactly two A and two B blocks, each with a finite median above zero. The
/// pointers point into `document`.
std::vector<quadruple> complete_quadruples(const receipt& document);

}  // namespace assay
