// What the host gives the native arm: one arm-config text (protocols/schemas/arm-config.schema.json).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace assay::native {

struct arm_config {
    int layers = 0, d_model = 0, ctx = 0, batch = 0, heads = 0;
    std::uint32_t steps = 0;
    std::uint32_t warmup = 0;
    std::uint64_t seed = 0;
    int threads = 1;
    std::string corpus_path;    ///< empty: the built-in corpus
    std::string corpus_sha256;  ///< of the file at corpus_path
    int repeat_optimizer = 1;
};

/// A failure as the event contract names it.
struct arm_failure {
    std::string code;
    std::string message;
};

/// Reads a configuration; a failure (code bad-config or unsupported) names the field.
std::variant<arm_config, arm_failure> read_config(const std::string& text);

}  // namespace assay::native
