#include "gate_factory.hpp"

#include "gate/environment_policy.hpp"

namespace assay {
namespace {

/// The verdict tells the gate's reasons by their first word; those of the environment have theirs already.
std::string gate_code(const std::string& code) {
    const bool told = code.starts_with("adapter-") || code.starts_with("environment-");
    return told ? code : "adapter-" + code;
}

gate_decision as_gate_decision(policy_decision decision) {
    gate_decision out{decision.accepted, {}};
    for (reason& why : decision.reasons) {
        why.code = gate_code(why.code);
        out.reasons.push_back(std::move(why));
    }
    return out;
}

}  // namespace

result<gate_judge> make_gate(const std::filesystem::path& policies, const run_request& request, policy_source source,
                             int logical_cores) {
    auto adapter = load_adapter_policy(policies, request.policy, source);
    if (!adapter) return adapter.error();
    auto environment = load_environment_policy(policies, request.environment_policy, source);
    if (!environment) return environment.error();
    return gate_judge([adapter = std::move(*adapter), environment = std::move(*environment), logical_cores](
                          const adapter_views& views, const environment_snapshot& snapshot) {
        return as_gate_decision(judge_proofs(adapter, environment, views, snapshot, logical_cores));
    });
}

}  // namespace assay
