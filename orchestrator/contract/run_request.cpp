#include "contract/run_request.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "contract/arm.hpp"
#include "contract/request_json.hpp"

namespace assay {
namespace {

constexpr std::size_t max_name_bytes = 100;
constexpr int max_threads = 256;
constexpr int max_pipelined_steps = 10000;
constexpr int max_cool_down_seconds = 3600;
constexpr int max_settle_seconds = 3600;
constexpr int min_stable_warmup_block = 2;
constexpr int max_repeat_optimizer = 100000;

error wrong(std::string field, std::string message) {
    return {error_code::invalid_argument, std::move(message), std::move(field)};
}

// Names of policies and corpora: never a path, so that a request over HTTP cannot name a file.
bool is_plain_name(std::string_view text) {
    return !text.empty() && text.size() <= max_name_bytes && text.front() != '.' &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '_' || c == '.' || c == ':';
           });
}

result<void> check_range(int value, int low, int high, std::string field) {
    if (value >= low && value <= high) return {};
    std::string message =
        "is " + std::to_string(value) + "; it must lie between " + std::to_string(low) + " and " + std::to_string(high);
    return wrong(std::move(field), std::move(message));
}

result<void> check_name(const std::string& text, std::string field) {
    if (is_plain_name(text)) return {};
    return wrong(std::move(field),
                 "\"" + text + "\" is not a name: letters, digits, '-', '_', '.' and ':', at most 100 of them");
}

/// A policy is a shipped name, or from the command line alone the path of a JSON file; who loads it says which it
/// takes.
result<void> check_policy(const std::string& text, std::string field) {
    constexpr std::string_view file_ending = ".json";
    constexpr std::size_t max_path_bytes = 1024;
    const bool printable = std::none_of(text.begin(), text.end(), [](unsigned char letter) { return letter < 0x20; });
    if (text.ends_with(file_ending) && text.size() <= max_path_bytes && printable) return {};
    return check_name(text, std::move(field));
}

bool is_nonce(std::string_view text) {
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return text.size() >= 16 && text.size() <= 64 && text.find_first_not_of(allowed) == std::string_view::npos;
}

result<void> check_quadruples(const quadruple_plan& plan) {
    if (!plan.automatic) return check_range(plan.count, 1, max_quadruples, "/quadruples");
    if (auto ok = check_range(plan.bound, 3, max_quadruples, "/quadruples/auto/bound"); !ok) return ok;
    if (!(plan.half_width >= 0.001 && plan.half_width <= 0.5))
        return wrong("/quadruples/auto/half_width", "must lie between 0.001 and 0.5 (0.1 % and 50 %)");
    return {};
}

void read_quadruples(const json& value, const json_context& at, quadruple_plan& out) {
    if (value.is_number()) {
        out.count = read_integer(value, at, 1, max_quadruples);
        return;
    }
    out.automatic = true;
    if (value.is_string() && value.get_ref<const std::string&>() == "auto") return;
    if (!value.is_object()) at.fail("must be a whole number from 1 to 200, \"auto\", or {\"auto\": {...}}");
    object_reader outer(value, at);
    const json_context inner_at(at, "auto");
    object_reader inner(outer.get("auto"), inner_at);
    inner.defaulted_integer("bound", out.bound, 3, max_quadruples);
    inner.defaulted("half_width", out.half_width);
    inner.finish();
    outer.finish();
}

void read_stable_warmup(const json& value, const json_context& at, stable_warmup& out) {
    object_reader object(value, at);
    object.defaulted_integer("bound", out.bound, 1, max_warmup);
    object.defaulted("tolerance", out.tolerance);
    object.finish();
}

result<void> check_stable_warmup(const stable_warmup& stable, int warmup) {
    if (warmup < min_stable_warmup_block)
        return wrong("/warmup", "is " + std::to_string(warmup) +
                                    "; with warmup_until_stable it is the size of a block, at least 2");
    if (auto ok = check_range(stable.bound, 2 * warmup, max_warmup, "/warmup_until_stable/bound"); !ok) return ok;
    if (!(stable.tolerance >= 0.001 && stable.tolerance <= 0.5))
        return wrong("/warmup_until_stable/tolerance", "must lie between 0.001 and 0.5 (0.1 % and 50 %)");
    return {};
}

result<void> check_slices(int slice_steps, const std::vector<std::string>& arms) {
    if (auto ok = check_range(slice_steps, 1, max_steps, "/slice_steps"); !ok) return ok;
    for (const std::string& arm : arms) {
        const auto kind = arm_kind_of(arm);
        if (!kind || *kind == arm_kind::wasm) continue;
        // On an H200 `large` took 5.74 ms a step in turns of four beside 2.56 ms undivided.
        const std::string why = *kind == arm_kind::webgpu ? "waits on a GPU, whose clocks fall while the others have their turn"
                                                          : "is a command, which goes through its steps without a stop";
        return wrong("/slice_steps", "is for WebAssembly arms; '" + arm + "' " + why + ". Leave it out");
    }
    return {};
}

// 64 bits do not fit a JSON number exactly: a number up to 2^53, or the decimal digits as text.
std::uint64_t read_seed(const json& value, const json_context& at) {
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        std::uint64_t seed = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seed);
        if (text.empty() || failure != std::errc() || end != text.data() + text.size())
            at.fail("must be a decimal number below 2^64");
        return seed;
    }
    if (value.is_number_unsigned() ? value.get<std::uint64_t>() > max_exact_integer
                                   : value.is_number() && value.get<double>() > static_cast<double>(max_exact_integer))
        at.fail("is above 2^53, where a JSON number is no longer exact; write the digits as a text");
    return read_unsigned(value, at, 0, max_exact_integer);
}

}  // namespace

void read_json(const json& value, const json_context& at, model_shape& out) {
    object_reader object(value, at);
    object.required("layers", out.layers);
    object.required("d_model", out.d_model);
    object.required("ctx", out.ctx);
    object.required("batch", out.batch);
    object.required("heads", out.heads);
    object.finish();
}

json shape_json(const model_shape& shape) {
    return {{"layers", shape.layers},
            {"d_model", shape.d_model},
            {"ctx", shape.ctx},
            {"batch", shape.batch},
            {"heads", shape.heads}};
}

void read_json(const json& value, const json_context& at, run_request& out) {
    object_reader object(value, at);
    object.optional("preset", out.preset);
    const json* custom = object.find("model");
    if (custom && out.preset) json_context(at, "model").fail("stands beside \"preset\"; give one of the two");
    if (!custom && !out.preset) json_context(at, "preset").fail("is missing; give a preset's name or a \"model\"");
    if (custom) read_json(*custom, json_context(at, "model"), out.model);
    object.defaulted("steps", out.steps);
    object.defaulted("warmup", out.warmup);
    object.defaulted("arms", out.arms);
    if (const json* count = object.find("quadruples"))
        read_quadruples(*count, json_context(at, "quadruples"), out.quadruples);
    if (const json* seed = object.find("seed")) out.seed = read_seed(*seed, json_context(at, "seed"));
    object.defaulted("policy", out.policy);
    object.defaulted("environment_policy", out.environment_policy);
    object.defaulted("corpus", out.corpus);
    object.optional("threads", out.threads);
    object.defaulted("allow_unqualified", out.allow_unqualified);
    object.defaulted("randomise_order", out.randomise_order);
    object.optional("label", out.label);
    object.optional("nonce", out.nonce);
    object.defaulted("pipelined_steps", out.pipelined_steps);
    object.optional("slice_steps", out.slice_steps);
    object.optional("cool_down_seconds", out.cool_down_seconds);
    object.optional("settle_seconds", out.settle_seconds);
    if (const json* stable = object.find("warmup_until_stable"))
        read_stable_warmup(*stable, json_context(at, "warmup_until_stable"), out.warmup_until_stable.emplace());
    object.optional("repeat_optimizer", out.repeat_optimizer);
    object.finish();
    if (auto ok = validate(out); !ok) {
        error cause = ok.error();
        cause.code = at.rules().code;
        cause.field = at.pointer() + cause.field;
        throw json_failure{std::move(cause)};
    }
}

json request_json(const run_request& request) {
    json out{{"steps", request.steps},
             {"warmup", request.warmup},
             {"arms", request.arms},
             {"policy", request.policy},
             {"environment_policy", request.environment_policy},
             {"corpus", request.corpus},
             {"allow_unqualified", request.allow_unqualified},
             {"randomise_order", request.randomise_order},
             {"pipelined_steps", request.pipelined_steps}};
    if (request.preset)
        out["preset"] = *request.preset;
    else
        out["model"] = shape_json(request.model);
    if (request.seed <= max_exact_integer)
        out["seed"] = request.seed;
    else
        out["seed"] = std::to_string(request.seed);
    if (request.quadruples.automatic)
        out["quadruples"]["auto"] = {{"bound", request.quadruples.bound},
                                     {"half_width", request.quadruples.half_width}};
    else
        out["quadruples"] = request.quadruples.count;
    put(out, "threads", request.threads);
    put(out, "label", request.label);
    put(out, "nonce", request.nonce);
    put(out, "slice_steps", request.slice_steps);
    put(out, "cool_down_seconds", request.cool_down_seconds);
    put(out, "settle_seconds", request.settle_seconds);
    if (const auto& stable = request.warmup_until_stable)
        out["warmup_until_stable"] = {{"bound", stable->bound}, {"tolerance", stable->tolerance}};
    put(out, "repeat_optimizer", request.repeat_optimizer);
    return out;
}

result<void> validate(run_request& request) {
    if (request.preset) {
        auto shape = find_preset(*request.preset);
        if (!shape) return shape.error();
        request.model = *shape;
    } else if (auto ok = check_shape(request.model, "/model"); !ok) {
        return ok;
    }
    if (auto ok = check_range(request.steps, 1, max_steps, "/steps"); !ok) return ok;
    if (auto ok = check_range(request.warmup, 0, max_warmup, "/warmup"); !ok) return ok;
    if (request.arms.size() != 2)
        return wrong("/arms", "holds " + std::to_string(request.arms.size()) +
                                  " arms; it must hold two: A, the baseline, and B");
    for (std::size_t i = 0; i < request.arms.size(); ++i)
        if (auto kind = arm_kind_of(request.arms[i]); !kind)
            return wrong("/arms/" + std::to_string(i), kind.error().message);
    if (auto ok = check_quadruples(request.quadruples); !ok) return ok;
    if (auto ok = check_policy(request.policy, "/policy"); !ok) return ok;
    // A policy that qualifies no adapter could only ever refuse; who asks for it wants the run.
    if (request.policy == unqualified_policy) request.allow_unqualified = true;
    if (auto ok = check_policy(request.environment_policy, "/environment_policy"); !ok) return ok;
    if (auto ok = check_name(request.corpus, "/corpus"); !ok) return ok;
    if (request.threads)
        if (auto ok = check_range(*request.threads, 1, max_threads, "/threads"); !ok) return ok;
    if (request.label && request.label->size() > max_label_bytes)
        return wrong("/label", "is longer than " + std::to_string(max_label_bytes) + " bytes");
    if (request.label && std::any_of(request.label->begin(), request.label->end(),
                                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
        return wrong("/label", "holds a control character");
    if (request.nonce && !is_nonce(*request.nonce))
        return wrong("/nonce", "must be 16 to 64 letters, digits, '-' or '_'");
    if (auto ok = check_range(request.pipelined_steps, 0, max_pipelined_steps, "/pipelined_steps"); !ok) return ok;
    if (request.slice_steps)
        if (auto ok = check_slices(*request.slice_steps, request.arms); !ok) return ok;
    if (request.cool_down_seconds)
        if (auto ok = check_range(*request.cool_down_seconds, 0, max_cool_down_seconds, "/cool_down_seconds"); !ok)
            return ok;
    if (request.settle_seconds)
        if (auto ok = check_range(*request.settle_seconds, 0, max_settle_seconds, "/settle_seconds"); !ok) return ok;
    if (request.warmup_until_stable)
        if (auto ok = check_stable_warmup(*request.warmup_until_stable, request.warmup); !ok) return ok;
    if (request.repeat_optimizer)
        if (auto ok = check_range(*request.repeat_optimizer, 1, max_repeat_optimizer, "/repeat_optimizer"); !ok)
            return ok;
    return {};
}

result<run_request> parse_run_request(std::string_view json_text) {
    const json_rules rules{error_code::invalid_argument, false};
    return read_document<run_request>(
        json_text, rules,
        [](const json& value, const json_context& at, run_request& request) { read_json(value, at, request); });
}

std::string run_request_text(const run_request& request) {
    return dump_json(request_json(request));
}

}  // namespace assay
