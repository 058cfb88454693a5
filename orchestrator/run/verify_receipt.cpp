#include "run/verify_receipt.hpp"

#include <set>

#include "analysis/paired_statistics.hpp"
#include "analysis/recompute.hpp"
#include "contract/arm.hpp"
#include "gate/environment_policy.hpp"
#include "receipt/envelope.hpp"
#include "schedule/abba_plan.hpp"

namespace assay {
namespace {

// A machine is called after its first key: a trusted key may speak for its own machine, not for another one.
void check_owner(const receipt& document, const std::string& key_id, const trust_store& trust,
                 std::vector<std::string>& wrong) {
    const std::string claimed = chain_owner(document);
    const std::string owner = machine_id_of_key(trust.first_key_id(key_id));
    if (claimed.empty() || claimed == owner) return;
    wrong.push_back("It claims to be of the machine " + claimed + ", but its key belongs to the machine " + owner +
                    "; if that machine has a new key, its rotation certificate is missing in the trust folder");
}

// The order is fixed by the seed before the machine is seen: another one was chosen afterwards.
void check_plan(const receipt& document, std::vector<std::string>& wrong) {
    if (document.plan.empty()) return;
    const auto planned = make_plan(static_cast<int>(document.plan.size() / 4), document.request.seed,
                                   document.request.randomise_order);
    // An automatic run goes on with the plan of its first stage.
    if (planned == document.plan) return;
    wrong.push_back("/plan says " + std::string(document.plan.begin(), document.plan.end()) + ", but the seed gives " +
                    std::string(planned.begin(), planned.end()));
}

void check_block_gate(const receipt& document, std::size_t index, const adapter_policy& adapter,
                      const environment_policy& environment, std::set<std::string>& said,
                      std::vector<std::string>& wrong) {
    const arm_record& block = document.arms[index];
    const int cores = document.machine ? document.machine->logical_cores : 1;
    for (const bool before : {true, false}) {
        const auto& views = before ? block.adapter_before : block.adapter_after;
        const auto& facts = before ? block.environment_before : block.environment_after;
        const policy_decision again = judge_proofs(adapter, environment, views.value_or(adapter_views{}),
                                                   facts.value_or(environment_snapshot{}), cores);
        for (const reason& why : again.reasons)
            if (said.insert(why.code).second)
                wrong.push_back("/verdict/reasons lacks " + why.code + ", which the facts " +
                                (before ? "before" : "after") + " block " + std::to_string(index + 1) +
                                " give: " + why.message);
    }
}

// What the gate says of the blocks' facts must stand among the reasons of a verdict that claims a qualified run.
void check_gate(const receipt& document, const std::filesystem::path& policies, receipt_verification& out) {
    const verdict_result claimed = document.verdict.result;
    if (claimed != verdict_result::verified && claimed != verdict_result::inconclusive) return;
    const auto adapter = load_adapter_policy(policies, document.request.policy, policy_source::names_only);
    const auto environment =
        load_environment_policy(policies, document.request.environment_policy, policy_source::names_only);
    if (!adapter || !environment) {
        out.remarks.push_back("The gate was not asked again: " + (adapter ? environment.error() : adapter.error()).text());
        return;
    }
    std::set<std::string> said;
    for (const reason& item : document.verdict.reasons) said.insert(item.code);
    for (std::size_t i = 0; i < document.arms.size(); ++i) {
        const auto kind = arm_kind_of(document.arms[i].arm);
        // Native and external arms have no page, and the gate judges pages.
        if (kind && (*kind == arm_kind::wasm || *kind == arm_kind::webgpu))
            check_block_gate(document, i, *adapter, *environment, said, out.reasons);
    }
}

}  // namespace

receipt_verification verify_receipt(std::string_view file_bytes, const verify_options_of_key& accepted) {
    receipt_verification out;
    const auto invalid = [&out](std::string why) { out.reasons.push_back(std::move(why)); };
    auto opened = open_envelope(file_bytes);
    if (!opened) {
        invalid(opened.error().text());
        return out;
    }
    out.key_id = opened->signer.id();
    out.file_sha256 = opened->file_sha256;
    if (accepted.key_id && *accepted.key_id != out.key_id)
        invalid("It is signed by the key " + out.key_id + ", not by " + *accepted.key_id);
    if (accepted.trust && !accepted.trust->trusts(out.key_id)) {
        const revoked_key* revoked = accepted.trust->revocation(out.key_id);
        invalid(revoked != nullptr ? "Its key " + out.key_id + " was revoked: " + revoked->reason
                                   : "Its key " + out.key_id + " is not in the trust folder");
    }
    auto document = parse_receipt(opened->receipt_text);
    if (!document) {
        invalid(document.error().text());
        return out;
    }
    if (accepted.trust) check_owner(*document, out.key_id, *accepted.trust, out.reasons);
    if (document->machine && chain_owner(*document) != document->machine->machine_id)
        invalid("/chain/machine_id is not /machine/machine_id: a machine signs its own measurements");
    if (accepted.nonce && document->nonce != accepted.nonce)
        invalid("/nonce is " + document->nonce.value_or("absent") + ", not " + *accepted.nonce +
                ": it does not answer that request");
    if (document->nonce && document->nonce != document->request.nonce)
        invalid("/nonce is not /request/nonce");
    if (document->id != opened->receipt_id) invalid("The envelope names another receipt than it holds");
    for (const figure_mismatch& wrong : check_figures(*document))
        invalid(wrong.pointer + " says " + wrong.stored + ", but the samples give " + wrong.recomputed);
    check_plan(*document, out.reasons);
    if (accepted.policies) check_gate(*document, *accepted.policies, out);
    if (is_published(*document))
        out.remarks.push_back("Its figures are stated, with no sample behind them: there is nothing to recompute");
    // Older receipts of published figures name no machine and stand in no chain.
    if (const std::string owner = chain_owner(*document); !owner.empty())
        out.link = chain_entry{document->id, owner, out.file_sha256, document->chain.previous_sha256,
                               document->chain.sequence};
    out.document = std::move(*document);
    out.valid = out.reasons.empty();
    return out;
}

}  // namespace assay
