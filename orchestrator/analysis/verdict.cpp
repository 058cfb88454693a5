#include "analysis/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/paired_statistics.hpp"
#include "analysis/receipt_checks.hpp"
#include "analysis/text.hpp"
#include "contract/arm.hpp"

namespace assay {
namespace {

constexpr std::string_view refused_midway = "gate-refused-midway";

bool any_step(const receipt& document) {
    return std::any_of(document.arms.begin(), document.arms.end(),
                       [](const arm_record& arm) { return !arm.steps.empty(); });
}

/// Whether the gate had a page to look at in any block. Native and external arms have none.
bool any_page(const receipt& document) {
    return std::any_of(document.arms.begin(), document.arms.end(), [](const arm_record& block) {
        const auto kind = arm_kind_of(block.arm);
        return kind && (*kind == arm_kind::wasm || *kind == arm_kind::webgpu);
    });
}

struct precision_finding {
    bool precise = false;
    std::optional<std::string> kind;
    std::vector<reason> reasons;
};

precision_finding judge_interval(const analysis_facts& analysis, const budgets& bounds) {
    precision_finding out{false, "interval", {}};
    const auto [low, high] = *analysis.interval95;
    const double half_width = (high - low) / (2 * *analysis.speedup);
    out.precise = half_width <= bounds.interval_half_width;
    const std::string figures = std::to_string(analysis.quadruples) +
                                " quadruples give a 95 % interval of plus or minus " + percent_text(half_width);
    out.reasons.push_back({out.precise ? "precision-interval" : "interval-too-wide",
                           figures + (out.precise ? ", within the " : ", above the ") +
                               percent_text(bounds.interval_half_width) + " asked for.",
                           {{"half_width", exact_text(half_width)},
                            {"limit", exact_text(bounds.interval_half_width)},
                            {"interval95_low", exact_text(low)},
                            {"interval95_high", exact_text(high)},
                            {"quadruples", std::to_string(analysis.quadruples)}}});
    return out;
}

precision_finding judge_spread(const analysis_facts& analysis, const budgets& bounds) {
    precision_finding out{true, "spread", {}};
    const double spread = std::max(*analysis.repeat_spread_a, *analysis.repeat_spread_b);
    const double log_speedup = std::abs(std::log(*analysis.speedup));
    const std::map<std::string, std::string> facts{{"spread", exact_text(spread)},
                                                   {"spread_limit", exact_text(bounds.repeat_spread)},
                                                   {"log_speedup", exact_text(log_speedup)},
                                                   {"multiple_asked", exact_text(bounds.spread_multiple)},
                                                   {"quadruples", std::to_string(analysis.quadruples)}};
    const std::string count =
        analysis.quadruples == 1 ? "One quadruple gives" : std::to_string(analysis.quadruples) + " quadruples give";
    if (spread > bounds.repeat_spread) {
        out.precise = false;
        out.reasons.push_back({"spread-too-large",
                               "Repeats of one arm differ by " + percent_text(spread) + ", above the " +
                                   percent_text(bounds.repeat_spread) + " allowed.",
                               facts});
    }
    if (log_speedup < bounds.spread_multiple * spread) {
        out.precise = false;
        out.reasons.push_back({"ratio-within-spread",
                               count + " a ratio of " + number_text(*analysis.speedup, 3) +
                                   ", too near to 1 for repeats that differ by " + percent_text(spread) +
                                   ": its logarithm must be at least " + number_text(bounds.spread_multiple, 2) +
                                   " times the spread. More quadruples give an interval.",
                               facts});
    }
    if (out.precise)
        out.reasons.push_back({"precision-spread",
                               count + " a point, not an interval: repeats of one arm differ by at most " +
                                   percent_text(spread) + ", and the ratio's logarithm is more than " +
                                   number_text(bounds.spread_multiple, 2) + " times that.",
                               facts});
    return out;
}

precision_finding judge_precision(const analysis_facts& analysis, const budgets& bounds) {
    if (!analysis.speedup || !std::isfinite(*analysis.speedup))
        return {false, std::nullopt, {{"no-ratio", "No quadruple is complete, so there is no ratio to judge.", {}}}};
    if (analysis.interval95) return judge_interval(analysis, bounds);
    return judge_spread(analysis, bounds);
}

void append(std::vector<reason>& to, std::vector<reason> from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

bool is_gate_code(std::string_view code) {
    return code.starts_with("adapter-") || code.starts_with("environment-");
}

verdict_facts judge(const receipt& document, const analysis_facts& analysis, const gate_outcome& gate,
                    const budgets& bounds, const std::vector<reason>& failures) {
    verdict_facts out;
    out.reasons = gate.reasons;
    append(out.reasons, failures);
    if (is_published(document)) {
        // Stated by somebody, checked by nobody: it can never be more than unqualified, nor fail for want of samples.
        const std::string evidence(evidence_name(document.evidence));
        out.result = verdict_result::unqualified;
        out.reasons.push_back(
            {"evidence-" + evidence,
             "The evidence is " + evidence + ": no raw samples are here, so no figure can be checked.",
             {}});
        return out;
    }
    if (gate.refused && !any_step(document)) {
        out.result = verdict_result::refused;
        return out;
    }

    std::vector<reason> incomplete = check_completeness(document);
    std::vector<reason> broken = check_inputs(document);
    append(broken, check_samples(document));
    append(broken, check_loss_drift(analysis, bounds.loss_drift));
    if (gate.refused)
        broken.push_back(
            {std::string(refused_midway), "The gate said no after an arm had begun; see its reasons.", {}});
    const bool failed = !incomplete.empty() || !failures.empty();
    const bool invalid = !broken.empty();
    append(out.reasons, std::move(incomplete));
    append(out.reasons, std::move(broken));
    const bool unseen = any_step(document) && !any_page(document);
    if (unseen)
        out.reasons.push_back({"no-page-arm",
                               "No arm ran in a page, so no adapter was looked at: native and external arms alone are "
                               "directional.",
                               {}});

    precision_finding precision = judge_precision(analysis, bounds);
    out.precision = precision.kind;
    // Without a ratio the reasons above have said why.
    if (analysis.speedup || out.reasons.empty()) append(out.reasons, std::move(precision.reasons));

    if (failed)
        out.result = verdict_result::failed;
    else if (invalid)
        out.result = verdict_result::invalid;
    else if (gate.unqualified || unseen)
        out.result = verdict_result::unqualified;
    else
        out.result = precision.precise ? verdict_result::verified : verdict_result::inconclusive;
    return out;
}

gate_outcome stored_gate_outcome(const receipt& document) {
    gate_outcome out;
    for (const reason& item : document.verdict.reasons) {
        if (is_gate_code(item.code)) out.reasons.push_back(item);
        if (item.code == refused_midway) out.refused = true;
    }
    if (document.verdict.result == verdict_result::refused) out.refused = true;
    out.unqualified = !out.refused && !out.reasons.empty();
    return out;
}

std::vector<reason> stored_failures(const receipt& document) {
    std::vector<reason> out;
    for (const reason& item : document.verdict.reasons)
        if (item.code.starts_with("run-")) out.push_back(item);
    return out;
}

}  // namespace assay
