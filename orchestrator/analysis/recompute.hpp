// Does a receipt say what its samples say? For `assay verify` and for every reader who will not take a figure on trust.
#pragma once

#include <string>
#include <vector>

#include "analysis/verdict.hpp"
#include "contract/receipt.hpp"

namespace assay {

/// One stored figure that the samples do not give.
struct figure_mismatch {
    std::string pointer;  ///< JSON pointer into the inner receipt
    std::string stored;   ///< "absent" where there is none
    std::string recomputed;
    bool operator==(const figure_mismatch&) const = default;
};

/// Stored and recomputed doubles may differ by this fraction: logarithms differ by an ulp between C libraries.
inline constexpr double recompute_tolerance = 1e-9;

/// Recomputes the model's costs, every block's figures, the analysis, and the verdict's result, precision and reasons
/// (taking the gate's and the run's own reasons as stored): codes, facts, and the numbers that sentences and notes
/// state; their words may be another build's. Empty: everything agrees.
std::vector<figure_mismatch> check_figures(const receipt& document, const budgets& bounds = {});

}  // namespace assay
