// Is the machine, at this moment, fit to be measured on? Facts in, decision out.
#pragma once

#include "contract/environment.hpp"
#include "contract/policy.hpp"
#include "gate/adapter_policy.hpp"

namespace assay {

/// Each rule of level `require` that is not met is a reason, each of level `warn` a warning; the code is the fact's name
/// with "environment-" before it and '-' for '_' ("environment-power-source"). The value stands among the facts.
/// `logical_cores` turns the load average into a load per core.
policy_decision judge_environment(const environment_policy& policy, const environment_snapshot& snapshot, int logical_cores);

/// Both judges: accepted when both accept; reasons of the adapter first.
policy_decision judge_proofs(const adapter_policy& adapter, const environment_policy& environment, const adapter_views& views,
                             const environment_snapshot& snapshot, int logical_cores);

}  // namespace assay
