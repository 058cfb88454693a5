#include "contract/arm_event.hpp"

#include <algorithm>
#include <array>

#include "contract/facts_json.hpp"
#include "contract/request_json.hpp"

namespace assay {
namespace {

constexpr std::size_t max_batched_steps = 10000;
constexpr std::array<std::string_view, 11> error_codes{
    "adapter-unavailable", "device-lost", "gpu-validation", "gpu-internal", "out-of-memory", "not-finite",
    "corpus-mismatch",     "unsupported", "bad-config",     "aborted",      "internal"};

arm_phase read_phase(object_reader& object) {
    std::string text;
    object.required("phase", text);
    if (text == "warmup") return arm_phase::warmup;
    if (text == "measure") return arm_phase::measure;
    json_context(object.at(), "phase").fail("must be \"warmup\" or \"measure\"");
}

void check_times(const std::vector<double>& times, const json_context& at) {
    for (std::size_t i = 0; i < times.size(); ++i)
        if (times[i] < 0) json_context(at, i).fail("must not be negative");
}

ready_event read_ready(object_reader& object) {
    ready_event out;
    object.required("arms", out.arms);
    object.optional("page", out.page);
    object.optional("adapter", out.adapter);
    return out;
}

prepared_event read_prepared(object_reader& object) {
    prepared_event out;
    object.required("arm", out.arm);
    object.integer("threads", out.threads, 1, 1 << 20);
    for (auto [key, field] :
         {std::pair{"weights_sha256", &out.weights_sha256}, std::pair{"batches_sha256", &out.batches_sha256},
          std::pair{"corpus_sha256", &out.corpus_sha256}})
        *field = read_sha256(object.get(key), json_context(object.at(), key));
    out.parameters =
        read_unsigned(object.get("parameters"), json_context(object.at(), "parameters"), 1, max_exact_integer);
    object.required("cold_start", out.cold_start_ms);
    for (const auto& [part, time] : out.cold_start_ms)
        if (time < 0)
            json_context(json_context(object.at(), "cold_start"), std::string_view(part)).fail("must not be negative");
    object.optional_integer("dispatches_per_step", out.dispatches_per_step, 0, 1 << 30);
    object.required("wait", out.wait);
    object.optional("gpu_timestamp_quantum_ns", out.gpu_timestamp_quantum_ns);
    object.required("variant", out.variant);
    object.optional("adapter", out.adapter);
    return out;
}

steps_event read_steps(object_reader& object) {
    steps_event out;
    out.phase = read_phase(object);
    object.integer("first", out.first, 0, 1 << 30);
    object.required("wall_ms", out.wall_ms);
    object.required("loss", out.loss);
    object.defaulted("gpu_ms", out.gpu_ms);
    const json_context wall(object.at(), "wall_ms");
    if (out.wall_ms.empty() || out.wall_ms.size() > max_batched_steps) wall.fail("must hold 1 to 10000 steps");
    check_times(out.wall_ms, wall);
    check_times(out.gpu_ms, json_context(object.at(), "gpu_ms"));
    if (out.loss.size() != out.wall_ms.size())
        json_context(object.at(), "loss")
            .fail("must be as long as wall_ms (" + std::to_string(out.wall_ms.size()) + ")");
    if (!out.gpu_ms.empty() && out.gpu_ms.size() != out.wall_ms.size())
        json_context(object.at(), "gpu_ms")
            .fail("must be as long as wall_ms (" + std::to_string(out.wall_ms.size()) + ")");
    return out;
}

done_event read_done(object_reader& object) {
    done_event out;
    out.phase = read_phase(object);
    object.integer("steps", out.steps, 0, 1 << 30);
    object.optional("pipelined_step_ms", out.pipelined_step_ms);
    if (out.pipelined_step_ms && *out.pipelined_step_ms < 0)
        json_context(object.at(), "pipelined_step_ms").fail("must not be negative");
    object.defaulted("gpu_ms", out.gpu_ms);
    check_times(out.gpu_ms, json_context(object.at(), "gpu_ms"));
    object.optional("adapter", out.adapter);
    object.optional("page", out.page);
    return out;
}

arm_error_event read_error(object_reader& object) {
    arm_error_event out;
    object.required("code", out.code);
    if (std::find(error_codes.begin(), error_codes.end(), out.code) == error_codes.end())
        json_context(object.at(), "code").fail("\"" + out.code + "\" is not a known code of an arm's error");
    object.required("message", out.message);
    object.defaulted("phase", out.phase);
    return out;
}

const json_rules event_rules{error_code::protocol_error, false};

}  // namespace

std::string arm_config_text(const arm_config& config) {
    json out{{"schema", "assay.arm-config/1.0"},  {"arm", config.arm},
             {"model", shape_json(config.model)}, {"steps", config.steps},
             {"warmup", config.warmup},           {"seed", std::to_string(config.seed)},
             {"threads", config.threads}};
    if (config.corpus_url.empty())
        out["corpus"] = {{"name", "builtin"}};
    else
        out["corpus"] = {{"url", config.corpus_url}, {"sha256", config.corpus_sha256}};
    if (config.pipelined_steps > 0) out["pipelined_steps"] = config.pipelined_steps;
    if (config.slice_steps) out["slice_steps"] = *config.slice_steps;
    if (config.repeat_optimizer) out["options"] = {{"repeat_optimizer", *config.repeat_optimizer}};
    return dump_json(out);
}

result<arm_event> parse_arm_event(std::string_view json_text) {
    const json_context root(event_rules);
    try {
        const json value = parse_json(json_text, root);
        object_reader object(value, root);
        std::string name;
        object.required("event", name);
        arm_event out;
        object.required("sequence", out.sequence);
        if (name == "ready")
            out.body = read_ready(object);
        else if (name == "prepared")
            out.body = read_prepared(object);
        else if (name == "steps")
            out.body = read_steps(object);
        else if (name == "done")
            out.body = read_done(object);
        else if (name == "error")
            out.body = read_error(object);
        else
            json_context(root, "event").fail("\"" + name + "\" is not a known event");
        object.finish();
        return out;
    } catch (const json_failure& failure) {
        return failure.cause;
    }
}

result<facts_reply> parse_facts_reply(std::string_view json_text) {
    return read_document<facts_reply>(json_text, event_rules,
                                      [](const json& value, const json_context& at, facts_reply& out) {
                                          object_reader object(value, at);
                                          object.optional("page", out.page);
                                          object.optional("adapter", out.adapter);
                                          object.finish();
                                      });
}

}  // namespace assay
