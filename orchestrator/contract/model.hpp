// The model's shape, the presets, and what a step costs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace assay {

/// A byte-level GPT of vocabulary 256; d_model is a multiple of heads.
struct model_shape {
    int layers = 0;
    int d_model = 0;
    int ctx = 0;    ///< tokens a sequence
    int batch = 0;  ///< sequences a step
    int heads = 0;
    bool operator==(const model_shape&) const = default;
};

inline constexpr int vocabulary_size = 256;

struct preset {
    std::string_view name;
    model_shape shape;
};

/// smoke to behemoth, smallest first.
std::span<const preset> presets();
/// Names the known presets in its error.
result<model_shape> find_preset(std::string_view name);

/// (256 + ctx) C + L (12 C^2 + 13 C) + 2 C.
std::uint64_t parameter_count(const model_shape& shape);
/// 6 N (12 L C^2 + V C) + 6 L N C (T + 1) with N = batch * ctx, C = d_model, T = ctx, V = 256.
double flops_per_step(const model_shape& shape);
/// Bounds and divisibility; the error's field is a JSON pointer below `at`.
result<void> check_shape(const model_shape& shape, std::string_view at);

}  // namespace assay
