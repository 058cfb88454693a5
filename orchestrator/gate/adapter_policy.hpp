// May a measurement on this adapter be called measured? Facts in, decision out; nothing else is looked at.
#pragma once

#include <optional>
#include <vector>

#include "contract/adapter.hpp"
#include "contract/policy.hpp"
#include "contract/receipt.hpp"

namespace assay {

/// What a policy says of the facts.
struct policy_decision {
    bool accepted = false;
    std::vector<reason> reasons;   ///< why not; empty when accepted
    std::vector<reason> warnings;  ///< said, without a consequence
};

/// Fails closed: a fact that is missing where the policy asks for it is a reason. Codes: "adapter-absent",
/// "adapter-devtools-view-absent", "adapter-fallback", "adapter-fallback-unknown", "adapter-software", "adapter-virtual",
/// "adapter-vendor", "adapter-architecture", "adapter-pci-vendor", "adapter-views-disagree", "adapter-driver-unknown",
/// "adapter-probe-missing", "adapter-probe-implausible", "adapter-never-qualifies". Every reason names the fact that caused it.
/// A policy without probe bounds does not look at the probe's rate.
policy_decision judge_adapter(const adapter_policy& policy, const adapter_views& views);

/// "hardware", "software", "virtual" or "none", whatever any policy says.
std::string_view adapter_class(const adapter_views& views);

}  // namespace assay
