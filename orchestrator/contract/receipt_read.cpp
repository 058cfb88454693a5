#include <array>
#include <charconv>

#include "contract/facts_json.hpp"
#include "contract/receipt.hpp"
#include "contract/request_json.hpp"
#include "core/clock.hpp"

namespace assay {

// Outside the unnamed namespace, so that the templates of json_edge.hpp find them.
static void read_json(const json& value, const json_context& at, step_sample& out) {
    object_reader object(value, at);
    object.required("wall_ms", out.wall_ms);
    object.required("loss", out.loss);
    object.optional("gpu_ms", out.gpu_ms);
    object.finish();
    if (out.wall_ms < 0) json_context(at, "wall_ms").fail("must not be negative");
    if (out.gpu_ms && *out.gpu_ms < 0) json_context(at, "gpu_ms").fail("must not be negative");
}

static void read_json(const json& value, const json_context& at, reason& out) {
    object_reader object(value, at);
    object.required("code", out.code);
    object.required("message", out.message);
    object.defaulted("facts", out.facts);
    object.finish();
}

namespace {

constexpr int max_position = 3;
/// Of the most quadruples that can be asked for: the work of judging a stranger's file has a bound.
constexpr std::size_t max_blocks = 4 * 200;
constexpr int max_count = 1 << 30;

char read_block(const json& value, const json_context& at) {
    std::string text;
    read_json(value, at, text);
    if (text != "A" && text != "B") at.fail("must be \"A\" or \"B\"");
    return text.front();
}

void optional_sha256(object_reader& object, std::string_view key, std::optional<std::string>& out) {
    if (const json* found = object.find(key)) out = read_sha256(*found, json_context(object.at(), key));
}

template <class Enum, std::size_t size>
Enum read_enum(object_reader& object, std::string_view key, const std::array<Enum, size>& values,
               std::string_view (*name_of)(Enum)) {
    std::string text;
    object.required(key, text);
    std::string known;
    for (Enum value : values) {
        if (name_of(value) == text) return value;
        known += (known.empty() ? "" : ", ") + std::string(name_of(value));
    }
    json_context(object.at(), key).fail("\"" + text + "\" is not one of " + known);
}

constexpr std::array all_evidence{evidence_class::measured,   evidence_class::derived,   evidence_class::observed,
                                  evidence_class::historical, evidence_class::projected, evidence_class::not_measured};
constexpr std::array all_verdicts{verdict_result::verified,     verdict_result::unqualified, verdict_result::refused,
                                  verdict_result::inconclusive, verdict_result::invalid,     verdict_result::failed};

}  // namespace

static void read_json(const json& value, const json_context& at, arm_record& out) {
    object_reader object(value, at);
    object.required("arm", out.arm);
    out.block = read_block(object.get("block"), json_context(at, "block"));
    object.integer("quadruple", out.quadruple, 0, max_count);
    object.integer("position", out.position, 0, max_position);
    object.optional_integer("threads", out.threads, 1, max_count);
    object.optional("adapter_before", out.adapter_before);
    object.optional("adapter_after", out.adapter_after);
    object.optional("environment_before", out.environment_before);
    object.optional("environment_after", out.environment_after);
    object.required("warmup", out.warmup);
    object.required("steps", out.steps);
    object.optional("cold_start_ms", out.cold_start_ms);
    object.defaulted("cold_start_parts_ms", out.cold_start_parts_ms);
    object.optional_integer("dispatches_per_step", out.dispatches_per_step, 0, max_count);
    object.optional("wait", out.wait);
    object.optional("gpu_timestamp_quantum_ns", out.gpu_timestamp_quantum_ns);
    object.optional("pipelined_step_ms", out.pipelined_step_ms);
    object.optional("median_step_ms", out.median_step_ms);
    object.optional("final_loss", out.final_loss);
    object.defaulted("variant", out.variant);
    optional_sha256(object, "weights_sha256", out.weights_sha256);
    optional_sha256(object, "batches_sha256", out.batches_sha256);
    optional_sha256(object, "corpus_sha256", out.corpus_sha256);
    object.defaulted("phases_ms", out.phases_ms);
    object.optional("settled", out.settled);
    object.optional("warmup_stable", out.warmup_stable);
    object.required("errors", out.errors);
    object.defaulted("console", out.console);
    object.finish();
}

static void read_json(const json& value, const json_context& at, browser_facts& out) {
    object_reader object(value, at);
    object.required("product", out.product);
    object.required("switches", out.switches);
    object.defaulted("path", out.path);
    object.defaulted("user_agent", out.user_agent);
    object.defaulted("javascript_version", out.javascript_version);
    object.finish();
}

static void read_json(const json& value, const json_context& at, input_digests& out) {
    object_reader object(value, at);
    optional_sha256(object, "weights_sha256", out.weights_sha256);
    optional_sha256(object, "batches_sha256", out.batches_sha256);
    optional_sha256(object, "corpus_sha256", out.corpus_sha256);
    if (const json* assets = object.find("assets")) {
        const json_context assets_at(at, "assets");
        read_json(*assets, assets_at, out.assets);
        for (const auto& [path, digest] : out.assets)
            if (!is_sha256_text(digest))
                json_context(assets_at, std::string_view(path)).fail("must be a SHA-256 digest in lower-case hex");
    }
    object.finish();
}

static void read_json(const json& value, const json_context& at, model_facts& out) {
    object_reader object(value, at);
    object.required("layers", out.shape.layers);
    object.required("d_model", out.shape.d_model);
    object.required("ctx", out.shape.ctx);
    object.required("batch", out.shape.batch);
    object.required("heads", out.shape.heads);
    object.required("parameters", out.parameters);
    object.required("flops_per_step", out.flops_per_step);
    object.finish();
}

static void read_json(const json& value, const json_context& at, analysis_facts& out) {
    object_reader object(value, at);
    object.integer("quadruples", out.quadruples, 0, max_count);
    object.optional("a_median_ms", out.a_median_ms);
    object.optional("b_median_ms", out.b_median_ms);
    object.optional("speedup", out.speedup);
    if (const json* interval = object.find("interval95")) {
        std::vector<double> bounds;
        const json_context interval_at(at, "interval95");
        read_json(*interval, interval_at, bounds);
        if (bounds.size() != 2) interval_at.fail("must hold two numbers");
        out.interval95 = {bounds[0], bounds[1]};
    }
    object.optional("max_loss_drift", out.max_loss_drift);
    if (const json* spread = object.find("repeat_spread")) {
        const json_context spread_at(at, "repeat_spread");
        object_reader parts(*spread, spread_at);
        parts.optional("a", out.repeat_spread_a);
        parts.optional("b", out.repeat_spread_b);
        parts.finish();
    }
    object.defaulted("details", out.details);
    object.defaulted("notes", out.notes);
    object.finish();
}

static void read_json(const json& value, const json_context& at, verdict_facts& out) {
    object_reader object(value, at);
    out.result = read_enum(object, "result", all_verdicts, &verdict_name);
    object.optional("precision", out.precision);
    if (out.precision && *out.precision != "interval" && *out.precision != "spread")
        json_context(at, "precision").fail("must be \"interval\" or \"spread\"");
    object.required("reasons", out.reasons);
    object.finish();
}

static void read_json(const json& value, const json_context& at, chain_link& out) {
    object_reader object(value, at);
    optional_sha256(object, "previous_sha256", out.previous_sha256);
    object.required("sequence", out.sequence);
    object.optional("machine_id", out.machine_id);
    object.finish();
}

namespace {

// "assay.receipt/1.0" -> 0; the major version must be 1.
int read_minor_version(const std::string& schema, const json_context& at) {
    constexpr std::string_view prefix = "assay.receipt/";
    const std::string_view text = schema;
    int major = -1;
    int minor = -1;
    const char* end = text.data() + text.size();
    if (text.starts_with(prefix)) {
        const auto first = std::from_chars(text.data() + prefix.size(), end, major);
        if (first.ec == std::errc() && first.ptr != end && *first.ptr == '.') {
            const auto second = std::from_chars(first.ptr + 1, end, minor);
            if (second.ec != std::errc() || second.ptr != end) minor = -1;
        }
    }
    if (major < 0 || minor < 0)
        at.fail("\"" + schema + "\" is not a receipt's schema (" + std::string(receipt_schema) + ")");
    if (major != 1)
        throw json_failure{error{error_code::unsupported_version,
                                 "the receipt has schema \"" + schema + "\"; this build reads assay.receipt/1.x",
                                 at.pointer(), "Use a newer assay."}};
    return minor;
}

receipt read_receipt(const json& value, const json_context& at) {
    object_reader object(value, at);
    receipt out;
    object.required("schema", out.schema);
    object.required("id", out.id);
    object.required("run_id", out.run_id);
    object.required("created_at", out.created_at);
    if (!parse_utc(out.created_at)) json_context(at, "created_at").fail("must be a time in UTC as RFC 3339 writes it");
    out.evidence = read_enum(object, "evidence", all_evidence, &evidence_name);
    object.required("request", out.request);
    object.optional("machine", out.machine);
    object.optional("browser", out.browser);
    object.optional("environment", out.environment);
    object.optional("adapter", out.adapter);
    object.required("inputs", out.inputs);
    object.required("model", out.model);
    const json_context plan_at(at, "plan");
    const json& plan = object.get("plan");
    if (!plan.is_array()) plan_at.fail("must be a list");
    if (plan.size() > max_blocks) plan_at.fail("holds more than " + std::to_string(max_blocks) + " blocks");
    for (std::size_t i = 0; i < plan.size(); ++i) out.plan.push_back(read_block(plan[i], json_context(plan_at, i)));
    const json& arms = object.get("arms");
    if (arms.size() > max_blocks)
        json_context(at, "arms").fail("holds more than " + std::to_string(max_blocks) + " blocks");
    object.required("arms", out.arms);
    object.required("analysis", out.analysis);
    object.required("verdict", out.verdict);
    object.defaulted("phases_ms", out.phases_ms);
    object.optional("total_ms", out.total_ms);
    object.optional("overhead_ms", out.overhead_ms);
    object.required("chain", out.chain);
    object.optional("nonce", out.nonce);
    object.defaulted("notes", out.notes);
    object.finish();
    return out;
}

constexpr int own_minor_version = 0;

}  // namespace

std::string chain_owner(const receipt& document) {
    if (document.chain.machine_id) return *document.chain.machine_id;
    return document.machine ? document.machine->machine_id : std::string();
}

result<receipt> parse_receipt(std::string_view json_text) {
    json_rules rules{error_code::corrupt, false};
    const json_context root(rules);
    try {
        const json value = parse_json(json_text, root);
        if (!value.is_object()) root.fail("must be an object");
        const auto schema = value.find("schema");
        const json_context schema_at(root, "schema");
        if (schema == value.end() || !schema->is_string()) schema_at.fail("is missing; it must be a text");
        // A newer minor version may have added fields that this build does not know: they are dropped.
        rules.allow_unknown = read_minor_version(schema->get<std::string>(), schema_at) > own_minor_version;
        return read_receipt(value, root);
    } catch (const json_failure& failure) {
        return failure.cause;
    }
}

}  // namespace assay
