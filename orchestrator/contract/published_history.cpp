#include "contract/published_history.hpp"

#include <array>

#include "contract/arm.hpp"
#include "contract/facts_json.hpp"

namespace assay {

static void read_json(const json& value, const json_context& at, published_figure& out) {
    constexpr std::array allowed{evidence_class::observed, evidence_class::historical, evidence_class::projected,
                                 evidence_class::not_measured};
    object_reader object(value, at);
    std::string evidence;
    object.required("evidence", evidence);
    bool known = false;
    for (evidence_class candidate : allowed) {
        if (evidence_name(candidate) != evidence) continue;
        out.evidence = candidate;
        known = true;
    }
    if (!known)
        json_context(at, "evidence")
            .fail(
                "must be observed, historical, projected or not-measured: what has no "
                "samples was not measured here");
    object.required("preset", out.preset);
    if (auto shape = find_preset(out.preset); !shape) json_context(at, "preset").fail(shape.error().message);
    object.required("arms", out.arms);
    const json_context arms_at(at, "arms");
    if (out.arms.size() != 2) arms_at.fail("must hold two arms");
    for (std::size_t i = 0; i < out.arms.size(); ++i)
        if (auto kind = arm_kind_of(out.arms[i]); !kind) json_context(arms_at, i).fail(kind.error().message);
    object.optional("speedup", out.speedup);
    object.optional("a_median_ms", out.a_median_ms);
    object.optional("b_median_ms", out.b_median_ms);
    object.optional("max_loss_drift", out.max_loss_drift);
    for (const auto& [key, figure] : {std::pair{"speedup", &out.speedup}, std::pair{"a_median_ms", &out.a_median_ms},
                                      std::pair{"b_median_ms", &out.b_median_ms}})
        if (*figure && !(**figure > 0)) json_context(at, key).fail("must be above zero");
    if (out.max_loss_drift && *out.max_loss_drift < 0) json_context(at, "max_loss_drift").fail("must not be negative");
    if (out.evidence == evidence_class::not_measured && (out.speedup || out.a_median_ms || out.b_median_ms))
        json_context(at, "speedup").fail("stands beside \"not-measured\"");
    object.optional("browser", out.browser);
    object.optional("adapter", out.adapter);
    object.defaulted("notes", out.notes);
    object.finish();
}

result<published_history> parse_published_history(std::string_view json_text) {
    const json_rules rules{error_code::invalid_argument, false};
    const json_context root(rules);
    try {
        const json value = parse_json(json_text, root);
        object_reader object(value, root);
        std::string schema;
        object.required("schema", schema);
        if (schema != "assay.published-history/1.0")
            return error{error_code::unsupported_version,
                         "the file has schema \"" + schema + "\"; this build reads assay.published-history/1.0",
                         "/schema"};
        published_history out;
        object.required("source", out.source);
        object.required("figures", out.figures);
        object.finish();
        return out;
    } catch (const json_failure& failure) {
        return failure.cause;
    }
}

receipt published_receipt(const published_history& history, const published_figure& figure, std::string id,
                          std::string created_at) {
    receipt out;
    out.id = std::move(id);
    out.run_id = out.id;
    out.created_at = std::move(created_at);
    out.evidence = figure.evidence;
    out.request.preset = figure.preset;
    out.request.arms = figure.arms;
    out.request.policy = "any";
    if (auto valid = validate(out.request); !valid) throw error_exception(valid.error());
    out.model = {out.request.model, parameter_count(out.request.model), flops_per_step(out.request.model)};
    if (figure.browser) out.browser = browser_facts{*figure.browser, {}, {}, {}, {}};
    if (figure.adapter) {
        out.adapter.emplace();
        out.adapter->page = figure.adapter;
    }
    out.analysis.speedup = figure.speedup;
    out.analysis.a_median_ms = figure.a_median_ms;
    out.analysis.b_median_ms = figure.b_median_ms;
    out.analysis.max_loss_drift = figure.max_loss_drift;
    const std::string evidence(evidence_name(figure.evidence));
    out.verdict.result = verdict_result::unqualified;
    out.verdict.reasons.push_back(
        {"evidence-" + evidence,
         "The evidence is " + evidence + ": no raw samples are here, so no figure can be checked.",
         {}});
    out.notes.push_back("Source: " + history.source);
    out.notes.insert(out.notes.end(), figure.notes.begin(), figure.notes.end());
    return out;
}

}  // namespace assay
