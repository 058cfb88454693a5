// From a request's policies to the one question a run asks of the gate.
#pragma once

#include <filesystem>

#include "contract/policy.hpp"
#include "run/measurement.hpp"

namespace assay {

/// Loads the adapter and the environment policy that a request names (files are accepted from the command line alone)
/// and binds them to this machine's core count.
result<gate_judge> make_gate(const std::filesystem::path& policies, const run_request& request, policy_source source,
                             int logical_cores);

}  // namespace assay
