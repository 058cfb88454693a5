// What a caller asks for: parsed and validated once, at the edge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/model.hpp"
#include "core/result.hpp"

namespace assay {

/// How many ABBA quadruples a run makes.
struct quadruple_plan {
    bool automatic = false;  ///< "auto": add quadruples until the interval is narrow enough or `bound` is met
    int count = 1;           ///< when not automatic
    int bound = 20;          ///< when automatic: the most quadruples
    double half_width = 0.05;///< when automatic: the relative half-width asked for
    bool operator==(const quadruple_plan&) const = default;
};

/// Warm-up that goes on, in blocks of `warmup` steps, until the median step of a block is that of the block before.
struct stable_warmup {
    int bound = 100;          ///< the most warm-up steps of an arm, all blocks together
    double tolerance = 0.05;  ///< the relative difference of two blocks' medians that counts as none
    bool operator==(const stable_warmup&) const = default;
};

/// The policy that lets any adapter run and qualifies none.
inline constexpr std::string_view unqualified_policy = "any";

/// One run asked for. Defaults are those of the command line.
struct run_request {
    std::optional<std::string> preset;  ///< absent where `model` is a custom shape
    model_shape model;                  ///< always filled after validation
    int steps = 20;
    int warmup = 3;
    std::vector<std::string> arms = {"wasm-simd-mt", "webgpu"};  ///< exactly two: A, the baseline, then B
    quadruple_plan quadruples;
    std::uint64_t seed = 42;
    std::string policy = "apple-metal-3";  ///< a registered name; the command line also takes a file
    std::string environment_policy = "default";
    std::string corpus = "builtin";        ///< "builtin", a registered name, or a SHA-256 in hex
    std::optional<int> threads;            ///< absent: chosen from the machine, then recorded
    bool allow_unqualified = false;        ///< always true after validation where `policy` is "any"
    bool randomise_order = true;           ///< ABBA or BAAB by the seed; false: ABBA always
    std::optional<std::string> label;
    std::optional<std::string> nonce;      ///< of whoever asks, kept in the receipt: it was made after the question
    int pipelined_steps = 0;
    /// The four blocks of a quadruple are measured in turn, so many steps at a time, all four browsers open at once: what
    /// disturbs the machine for longer than a turn disturbs all four alike. WebAssembly arms only. Absent: one after the other.
    std::optional<int> slice_steps;
    std::optional<int> cool_down_seconds;  ///< pause between arms; absent: none
    std::optional<int> settle_seconds;     ///< between arms, wait at most this long until load and temperature are back
    std::optional<stable_warmup> warmup_until_stable;  ///< absent: `warmup` steps and no more
    std::optional<int> repeat_optimizer;   ///< test hook of the arms, recorded
    bool operator==(const run_request&) const = default;
};

inline constexpr int max_steps = 10000;
inline constexpr int max_warmup = 1000;
inline constexpr int max_quadruples = 200;
inline constexpr std::size_t max_label_bytes = 200;

/// Reads and validates a request: unknown keys, types, ranges and the preset's name are errors that point at the field.
result<run_request> parse_run_request(std::string_view json_text);
/// Checks a request built in code (the command line) and fills `model` from `preset`.
result<void> validate(run_request& request);
/// The JSON text of a request, as the receipt holds it.
std::string run_request_text(const run_request& request);

}  // namespace assay
