// What a receipt is worth: a pure function of its samples, its proofs and the budgets.
#pragma once

#include <string_view>
#include <vector>

#include "contract/receipt.hpp"

namespace assay {

/// The bounds of a verdict. The defaults are the ones of every shipped verdict; a value on the bound is within it.
struct budgets {
    double loss_drift = 0.05;           ///< largest max_loss_drift
    double interval_half_width = 0.05;  ///< largest half-width over speedup, from three quadruples on
    double repeat_spread = 0.10;        ///< largest repeat_spread with one or two quadruples
    double spread_multiple = 5;         ///< |ln speedup| is at least so many times the larger repeat spread then
};

/// What the gate said over the whole run. Its reasons have codes that begin with "adapter-" or "environment-".
struct gate_outcome {
    bool refused = false;      ///< the gate said no, and unqualified runs were not allowed
    bool unqualified = false;  ///< the policy was not met, and the run went on
    std::vector<reason> reasons;
};

/// The verdict, strongest first:
/// refused (the gate said no, no arm made a step), failed (an arm or its steps are missing, or `failures`), invalid
/// (inputs or losses differ, errors, times that cannot be), unqualified (the policy was not met, or no arm ran in a page for the gate to look at),
/// inconclusive (not precise), verified.
/// Every reason that holds is listed, whichever decided. `failures` are the run's own reasons, such as a browser that
/// did not start; their codes begin with "run-".
verdict_facts judge(const receipt& document, const analysis_facts& analysis, const gate_outcome& gate,
                    const budgets& bounds = {}, const std::vector<reason>& failures = {});

/// What the gate said, as the stored verdict tells it; for a receipt that is judged again.
gate_outcome stored_gate_outcome(const receipt& document);
/// The run's own reasons of failure in the stored verdict.
std::vector<reason> stored_failures(const receipt& document);

/// True for codes of the gate.
bool is_gate_code(std::string_view code);

}  // namespace assay
