// The arm contract: what the host gives an arm and what the arm tells. See protocols/schemas/arm-*.schema.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "contract/adapter.hpp"
#include "contract/model.hpp"
#include "core/result.hpp"

namespace assay {

/// What prepare() gets.
struct arm_config {
    std::string arm;
    model_shape model;
    int steps = 0;
    int warmup = 0;
    std::uint64_t seed = 0;
    int threads = 1;
    std::string corpus_url;     ///< empty: the built-in corpus
    std::string corpus_sha256;  ///< of corpus_url's bytes
    int pipelined_steps = 0;
    std::optional<int> slice_steps;  ///< a call of measure() ends after so many steps; the next one goes on
    std::optional<int> repeat_optimizer;
};
std::string arm_config_text(const arm_config& config);

/// Facts of the page that carry the clock's worth.
struct page_facts {
    bool cross_origin_isolated = false;
    std::string visibility;  ///< "visible" or "hidden"
    double timer_quantum_us = 0;
    int hardware_concurrency = 1;
    std::string user_agent;
    bool webgpu = false;
    std::optional<bool> wasm_relaxed_simd;
    std::optional<bool> wasm_memory64;
    bool operator==(const page_facts&) const = default;
};

using variant_value = std::variant<std::string, double, bool>;

struct ready_event {
    std::vector<std::string> arms;
    std::optional<page_facts> page;  ///< absent for native and external arms
    std::optional<page_adapter> adapter;
};
struct prepared_event {
    std::string arm;
    int threads = 1;
    std::string weights_sha256, batches_sha256, corpus_sha256;
    std::uint64_t parameters = 0;
    std::map<std::string, double> cold_start_ms;
    std::optional<int> dispatches_per_step;
    std::string wait;
    std::optional<double> gpu_timestamp_quantum_ns;
    std::map<std::string, variant_value> variant;
    std::optional<page_adapter> adapter;
};
enum class arm_phase { warmup, measure };
struct steps_event {
    arm_phase phase = arm_phase::warmup;
    int first = 0;
    std::vector<double> wall_ms;
    std::vector<double> loss;
    std::vector<double> gpu_ms;  ///< empty, or as long as wall_ms
};
struct done_event {
    arm_phase phase = arm_phase::warmup;
    int steps = 0;
    std::optional<double> pipelined_step_ms;
    std::vector<double> gpu_ms;  ///< empty, or one for each timed step, from an arm that learns them after the last one
    std::optional<page_adapter> adapter;
    std::optional<page_facts> page;
};
struct arm_error_event {
    std::string code;  ///< "device-lost", ...
    std::string message;
    std::string phase;
};
struct arm_event {
    std::uint64_t sequence = 0;
    std::variant<ready_event, prepared_event, steps_event, done_event, arm_error_event> body;
};

/// Reads one event's JSON text. Strict: unknown events, missing or mistyped fields, lists of unequal length, negative or
/// non-finite times are errors that point at the field.
result<arm_event> parse_arm_event(std::string_view json_text);

/// What assay.facts() resolves to.
struct facts_reply {
    std::optional<page_facts> page;
    std::optional<page_adapter> adapter;
};
result<facts_reply> parse_facts_reply(std::string_view json_text);

}  // namespace assay
