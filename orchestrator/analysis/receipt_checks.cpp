#include "analysis/receipt_checks.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/quadruples.hpp"
#include "analysis/stopping_rule.hpp"
#include "analysis/text.hpp"

namespace assay {
namespace {

std::string block_title(const arm_record& block) {
    return "Block " + std::string(1, block.block) + " (" + block.arm + ", quadruple " +
           std::to_string(block.quadruple + 1) + ", position " + std::to_string(block.position + 1) + ")";
}

std::map<std::string, std::string> block_facts(const arm_record& block) {
    return {{"arm", block.arm},
            {"block", std::string(1, block.block)},
            {"quadruple", std::to_string(block.quadruple)},
            {"position", std::to_string(block.position)}};
}

bool made_all_steps(const receipt& document, const arm_record& block) {
    return block.steps.size() == static_cast<std::size_t>(document.request.steps);
}

// Whether block number `index` is what the plan and the request say stands there.
bool follows_plan(const receipt& document, std::size_t index) {
    const arm_record& block = document.arms[index];
    const char planned = document.plan[index];
    const std::size_t arm = planned == 'A' ? 0 : 1;
    return block.block == planned && block.quadruple == static_cast<int>(index / 4) &&
           block.position == static_cast<int>(index % 4) && document.request.arms.size() == 2 &&
           block.arm == document.request.arms[arm];
}

void check_digest(const receipt& document, const char* name, std::optional<std::string> arm_record::*of_block,
                  const std::optional<std::string>& of_receipt, std::vector<reason>& out) {
    std::set<std::string> seen;
    if (of_receipt) seen.insert(*of_receipt);
    for (const arm_record& block : document.arms) {
        if (block.steps.empty()) continue;
        if (block.*of_block) {
            seen.insert(*(block.*of_block));
        } else {
            auto facts = block_facts(block);
            facts["input"] = name;
            out.push_back({"digest-missing", block_title(block) + " did not report the digest of its " + name + ".",
                           std::move(facts)});
        }
    }
    if (seen.size() < 2) return;
    std::map<std::string, std::string> facts;
    for (const std::string& digest : seen) facts["sha256_" + std::to_string(facts.size() + 1)] = digest;
    out.push_back({std::string(name) + "-differ",
                   "The arms did not train on the same " + std::string(name) + ": " + std::to_string(seen.size()) +
                       " different digests.",
                   std::move(facts)});
}

}  // namespace

std::vector<reason> check_completeness(const receipt& document) {
    std::vector<reason> out;
    for (const arm_record& block : document.arms) {
        if (made_all_steps(document, block)) continue;
        auto facts = block_facts(block);
        facts["steps"] = std::to_string(block.steps.size());
        facts["steps_asked"] = std::to_string(document.request.steps);
        if (!block.errors.empty()) {
            facts["error"] = block.errors.front();
            out.push_back({"arm-failed",
                           block_title(block) + " ended after " + std::to_string(block.steps.size()) + " of " +
                               std::to_string(document.request.steps) + " steps: " + block.errors.front(),
                           std::move(facts)});
        } else {
            out.push_back({"steps-missing",
                           block_title(block) + " has " + std::to_string(block.steps.size()) + " of " +
                               std::to_string(document.request.steps) + " steps.",
                           std::move(facts)});
        }
    }
    if (document.plan.empty() || document.arms.size() < document.plan.size())
        out.push_back(
            {"arm-missing",
             std::to_string(document.arms.size()) + " of " + std::to_string(document.plan.size()) +
                 " planned blocks ran.",
             {{"ran", std::to_string(document.arms.size())}, {"planned", std::to_string(document.plan.size())}}});
    // A run that chose its count must have followed the rule, or its interval promises too much.
    const auto wanted = static_cast<std::size_t>(4 * quadruples_to_run(document));
    if (out.empty() && document.plan.size() != wanted)
        out.push_back({"quadruples-mismatch",
                       std::to_string(document.plan.size()) + " blocks were planned; the request asks for " +
                           std::to_string(wanted) + ".",
                       {{"planned", std::to_string(document.plan.size())}, {"asked", std::to_string(wanted)}}});
    return out;
}

std::vector<reason> check_inputs(const receipt& document) {
    std::vector<reason> out;
    for (std::size_t i = 0; i < document.arms.size(); ++i) {
        if (i < document.plan.size() && follows_plan(document, i)) continue;
        auto facts = block_facts(document.arms[i]);
        facts["planned_block"] = i < document.plan.size() ? std::string(1, document.plan[i]) : "none";
        out.push_back({"plan-mismatch",
                       block_title(document.arms[i]) + " is not what the plan says for block number " +
                           std::to_string(i + 1) + ".",
                       std::move(facts)});
    }
    check_digest(document, "weights", &arm_record::weights_sha256, document.inputs.weights_sha256, out);
    check_digest(document, "batches", &arm_record::batches_sha256, document.inputs.batches_sha256, out);
    check_digest(document, "corpus", &arm_record::corpus_sha256, document.inputs.corpus_sha256, out);
    return out;
}

std::vector<reason> check_samples(const receipt& document) {
    std::vector<reason> out;
    for (const arm_record& block : document.arms) {
        if (made_all_steps(document, block) && !block.errors.empty()) {
            auto facts = block_facts(block);
            facts["errors"] = std::to_string(block.errors.size());
            facts["error"] = block.errors.front();
            out.push_back(
                {"arm-errors", block_title(block) + " reported an error: " + block.errors.front(), std::move(facts)});
        }
        for (std::size_t i = 0; i < block.steps.size(); ++i) {
            if (std::isfinite(block.steps[i].loss)) continue;
            auto facts = block_facts(block);
            facts["step"] = std::to_string(i + 1);
            out.push_back({"loss-not-finite",
                           block_title(block) + " has a loss that is not finite at step " + std::to_string(i + 1) + ".",
                           std::move(facts)});
            break;
        }
        if (block.steps.empty()) continue;
        const auto time = block_median_ms(block);
        const bool negative = std::any_of(block.steps.begin(), block.steps.end(),
                                          [](const step_sample& step) { return step.wall_ms < 0; });
        if (time && *time > 0 && !negative) continue;
        auto facts = block_facts(block);
        if (time) facts["median_step_ms"] = exact_text(*time);
        out.push_back({"time-not-positive",
                       block_title(block) +
                           " has step times that cannot be: its median is not above zero, or a time is "
                           "negative or not finite.",
                       std::move(facts)});
    }
    return out;
}

std::vector<reason> check_loss_drift(const analysis_facts& analysis, double limit) {
    if (!analysis.max_loss_drift || *analysis.max_loss_drift <= limit) return {};
    return {{"loss-drift",
             "The losses of A and B differ by up to " + percent_text(*analysis.max_loss_drift) + ", above the " +
                 percent_text(limit) + " allowed: they did not do the same training.",
             {{"max_loss_drift", exact_text(*analysis.max_loss_drift)}, {"limit", exact_text(limit)}}}};
}

}  // namespace assay
