// Clipping by the global norm, and AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inputs.hpp"
#include "thread_pool.hpp"

namespace assay::trainer {

struct adamw_settings {
    float learning_rate = 3e-4f;
    float beta1 = 0.9f;
    float beta2 = 0.95f;
    float epsilon = 1e-8f;
    float decay = 0.1f;
    float clip_norm = 1.0f;
};

/// A stretch of the flat vector that one task updates.
struct optimiser_chunk {
    std::uint64_t begin;
    std::uint32_t count;
    bool decays;
};

inline constexpr std::uint32_t optimiser_chunk_floats = 8192;

/// How many chunks optimiser_chunks would make, without memory for them: a model may be far too large to be made.
std::uint64_t optimiser_chunk_count(const std::vector<tensor_info>& layout);

/// Cuts every tensor into chunks; their order and size are fixed, so sums over them are too.
std::vector<optimiser_chunk> optimiser_chunks(const std::vector<tensor_info>& layout);

/// The flat vectors of the optimiser, all of one length, and its per-chunk sums of squares.
struct optimiser_state {
    float* parameters;
    float* gradients;
    float* moment1;
    float* moment2;
    double* chunk_squares;
};

/// Floats of scratch a thread for the test hook of `adamw_update`.
inline constexpr std::size_t optimiser_scratch_floats = 3 * optimiser_chunk_floats;

/// The gradient's global norm. Sums each chunk in float lanes, the chunks in double, in order.
double gradient_norm(thread_pool& pool, const std::vector<optimiser_chunk>& chunks, const optimiser_state& state);

/// Update number `step` (1 is the first) with the gradient scaled by clip_norm / norm where norm is larger.
/// `repeats` > 1 runs the same arithmetic that many times, the extra times into scratch (a test hook).
void adamw_update(thread_pool& pool, const std::vector<optimiser_chunk>& chunks, const optimiser_state& state,
                  const adamw_settings& settings, std::uint32_t step, double norm, int repeats, float* scratch);

}  // namespace assay::trainer
