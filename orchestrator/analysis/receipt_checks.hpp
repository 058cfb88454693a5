// What can be wrong with a receipt's samples and proofs, one check a function: no reason means nothing is wrong.
#pragma once

#include <vector>

#include "contract/receipt.hpp"

namespace assay {

/// Arms that the plan names and that did not run, arms that ended early, arms that are not the plan's.
std::vector<reason> check_completeness(const receipt& document);
/// Unequal or missing digests of weights, batches and corpus.
std::vector<reason> check_inputs(const receipt& document);
/// Errors of arms that made all their steps, losses that are not finite, times that are not positive.
std::vector<reason> check_samples(const receipt& document);
/// Loss drift over its budget.
std::vector<reason> check_loss_drift(const analysis_facts& analysis, double limit);

}  // namespace assay
