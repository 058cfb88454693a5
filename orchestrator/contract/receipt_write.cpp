#include <algorithm>

#include "contract/facts_json.hpp"
#include "contract/receipt.hpp"
#include "contract/request_json.hpp"

namespace assay {
namespace {

json samples_json(const std::vector<step_sample>& samples) {
    json out = json::array();
    for (const step_sample& sample : samples) {
        json item{{"wall_ms", sample.wall_ms}, {"loss", sample.loss}};
        put(item, "gpu_ms", sample.gpu_ms);
        out.push_back(std::move(item));
    }
    return out;
}

template <class Facts>
void put_facts(json& object, const char* key, const std::optional<Facts>& facts) {
    if (facts) object[key] = facts_json(*facts);
}

json arm_json(const arm_record& arm) {
    json out{{"arm", arm.arm},           {"block", std::string(1, arm.block)}, {"quadruple", arm.quadruple},
             {"position", arm.position}, {"warmup", samples_json(arm.warmup)}, {"steps", samples_json(arm.steps)},
             {"errors", arm.errors}};
    put(out, "threads", arm.threads);
    put_facts(out, "adapter_before", arm.adapter_before);
    put_facts(out, "adapter_after", arm.adapter_after);
    put_facts(out, "environment_before", arm.environment_before);
    put_facts(out, "environment_after", arm.environment_after);
    put(out, "cold_start_ms", arm.cold_start_ms);
    put_unless_empty(out, "cold_start_parts_ms", arm.cold_start_parts_ms);
    put(out, "dispatches_per_step", arm.dispatches_per_step);
    put(out, "wait", arm.wait);
    put(out, "gpu_timestamp_quantum_ns", arm.gpu_timestamp_quantum_ns);
    put(out, "pipelined_step_ms", arm.pipelined_step_ms);
    put(out, "median_step_ms", arm.median_step_ms);
    put(out, "final_loss", arm.final_loss);
    if (!arm.variant.empty()) out["variant"] = variant_map_json(arm.variant);
    put(out, "weights_sha256", arm.weights_sha256);
    put(out, "batches_sha256", arm.batches_sha256);
    put(out, "corpus_sha256", arm.corpus_sha256);
    put_unless_empty(out, "phases_ms", arm.phases_ms);
    put(out, "settled", arm.settled);
    put(out, "warmup_stable", arm.warmup_stable);
    put_unless_empty(out, "console", arm.console);
    return out;
}

json browser_json(const browser_facts& browser) {
    json out{{"product", browser.product}, {"switches", browser.switches}};
    put_unless_empty(out, "path", browser.path);
    put_unless_empty(out, "user_agent", browser.user_agent);
    put_unless_empty(out, "javascript_version", browser.javascript_version);
    return out;
}

json inputs_json(const input_digests& inputs) {
    json out{{"assets", inputs.assets}};
    put(out, "weights_sha256", inputs.weights_sha256);
    put(out, "batches_sha256", inputs.batches_sha256);
    put(out, "corpus_sha256", inputs.corpus_sha256);
    return out;
}

json analysis_json(const analysis_facts& analysis) {
    json out{{"quadruples", analysis.quadruples}};
    put(out, "a_median_ms", analysis.a_median_ms);
    put(out, "b_median_ms", analysis.b_median_ms);
    put(out, "speedup", analysis.speedup);
    if (analysis.interval95) out["interval95"] = {analysis.interval95->first, analysis.interval95->second};
    put(out, "max_loss_drift", analysis.max_loss_drift);
    if (analysis.repeat_spread_a || analysis.repeat_spread_b) {
        json& spread = out["repeat_spread"] = json::object();
        put(spread, "a", analysis.repeat_spread_a);
        put(spread, "b", analysis.repeat_spread_b);
    }
    put_unless_empty(out, "details", analysis.details);
    put_unless_empty(out, "notes", analysis.notes);
    return out;
}

json verdict_json(const verdict_facts& verdict) {
    json out{{"result", std::string(verdict_name(verdict.result))}, {"reasons", json::array()}};
    put(out, "precision", verdict.precision);
    for (const reason& item : verdict.reasons) {
        json entry{{"code", item.code}, {"message", item.message}};
        put_unless_empty(entry, "facts", item.facts);
        out["reasons"].push_back(std::move(entry));
    }
    return out;
}

}  // namespace

std::string_view evidence_name(evidence_class evidence) {
    switch (evidence) {
        case evidence_class::measured:
            return "measured";
        case evidence_class::derived:
            return "derived";
        case evidence_class::observed:
            return "observed";
        case evidence_class::historical:
            return "historical";
        case evidence_class::projected:
            return "projected";
        case evidence_class::not_measured:
            return "not-measured";
    }
    return "not-measured";
}

std::string_view verdict_name(verdict_result verdict) {
    switch (verdict) {
        case verdict_result::verified:
            return "verified";
        case verdict_result::unqualified:
            return "unqualified";
        case verdict_result::refused:
            return "refused";
        case verdict_result::inconclusive:
            return "inconclusive";
        case verdict_result::invalid:
            return "invalid";
        case verdict_result::failed:
            return "failed";
    }
    return "failed";
}

std::string receipt_text(const receipt& document) {
    json out{{"schema", document.schema},
             {"id", document.id},
             {"run_id", document.run_id},
             {"created_at", document.created_at},
             {"evidence", std::string(evidence_name(document.evidence))},
             {"request", request_json(document.request)},
             {"inputs", inputs_json(document.inputs)},
             {"model", shape_json(document.model.shape)},
             {"plan", json::array()},
             {"arms", json::array()},
             {"analysis", analysis_json(document.analysis)},
             {"verdict", verdict_json(document.verdict)},
             {"chain", {{"sequence", document.chain.sequence}}}};
    out["model"]["parameters"] = document.model.parameters;
    out["model"]["flops_per_step"] = document.model.flops_per_step;
    for (char block : document.plan) out["plan"].push_back(std::string(1, block));
    for (const arm_record& arm : document.arms) out["arms"].push_back(arm_json(arm));
    put(out["chain"], "previous_sha256", document.chain.previous_sha256);
    put(out["chain"], "machine_id", document.chain.machine_id);
    put_facts(out, "machine", document.machine);
    if (document.browser) out["browser"] = browser_json(*document.browser);
    put_facts(out, "environment", document.environment);
    put_facts(out, "adapter", document.adapter);
    put_unless_empty(out, "phases_ms", document.phases_ms);
    put(out, "total_ms", document.total_ms);
    put(out, "overhead_ms", document.overhead_ms);
    put(out, "nonce", document.nonce);
    put_unless_empty(out, "notes", document.notes);
    return dump_json(out);
}

}  // namespace assay
