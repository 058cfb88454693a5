// Causal multi-head attention, one task for each (sequence, head), without any [ctx, ctx] buffer: scores exist for one
// block of queries at a time, in the thread's own scratch, and the backward pass computes them again from two numbers
// kept for each query (Dao, "FlashAttention-2", 2023, with whole rows of keys instead of an online softmax).
#pragma once

#include <cstddef>

#include "inputs.hpp"
#include "thread_pool.hpp"

namespace assay::trainer {

/// Floats of scratch that one thread needs.
std::size_t attention_scratch_floats(const model_shape& shape);

/// Floats of `statistics`: the largest score and the inverse of the sum of exponentials, for each query of each head.
std::size_t attention_statistics_floats(const model_shape& shape);

/// out[tokens, d] = softmax(q k^T / sqrt(head size)) v for each head, from qkv[tokens, 3d] (q, k, v side by side).
/// `scratch` holds attention_scratch_floats for each thread of the pool.
void attention_forward(thread_pool& pool, const model_shape& shape, const float* qkv, float* out, float* statistics,
                       float* scratch);

/// d_qkv[tokens, 3d] from d_out[tokens, d]; qkv, out and statistics as the forward pass left them.
void attention_backward(thread_pool& pool, const model_shape& shape, const float* qkv, const float* out,
                        const float* statistics, const float* d_out, float* d_qkv, float* scratch);

}  // namespace assay::trainer
