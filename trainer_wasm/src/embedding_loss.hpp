// The two ends of the model: token and position embedding, and the cross-entropy over the vocabulary.
#pragma once

#include <cstdint>

#include "inputs.hpp"
#include "thread_pool.hpp"

namespace assay::trainer {

/// x[token] = wte[id] + wpe[position].
void embedding_forward(thread_pool& pool, const model_shape& shape, const std::int32_t* tokens, const float* wte,
                       const float* wpe, float* x);

/// Adds each token's d_x to its row of d_wte, in token order, and writes d_wpe.
void embedding_backward(thread_pool& pool, const model_shape& shape, const std::int32_t* tokens, const float* d_x,
                        float* d_wte, float* d_wpe);

/// Mean cross-entropy in nats of logits[tokens, 256], which become their own gradient, (softmax - target) / tokens.
/// `row_losses` has room for one float a token.
float cross_entropy(thread_pool& pool, int tokens, float* logits, const std::int32_t* targets, float* row_losses);

}  // namespace assay::trainer
