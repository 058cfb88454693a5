// Layer normalisation over rows of d floats: y = (x - mean) / sqrt(variance + eps) * gain + bias (Ba, Kiros and Hinton,
// 2016), eps 1e-5, variance with divisor d.
#pragma once

#include <cstddef>

#include "thread_pool.hpp"

namespace assay::trainer {

inline constexpr float layer_norm_epsilon = 1e-5f;

/// Rows of one task. Fixed, since sums over a block's rows are rounded block by block.
inline constexpr int norm_row_block = 32;
constexpr int norm_blocks(int rows) {
    return (rows + norm_row_block - 1) / norm_row_block;
}

struct norm_shape {
    int rows;
    int d;
};

/// y from x; keeps mean and 1 / sqrt(variance + eps) of each row in statistics[rows][2].
void layer_norm_forward(thread_pool& pool, norm_shape shape, const float* x, const float* gain, const float* bias,
                        float* y, float* statistics);

/// Adds the gradient with respect to x to d_x, and leaves each row block's sums for gain and bias in
/// partial[norm_blocks(rows)][2][d].
void layer_norm_backward(thread_pool& pool, norm_shape shape, const float* x, const float* gain,
                         const float* statistics, const float* d_y, float* d_x, float* partial);

/// One instance of the normalisation whose partial sums wait to be added up.
struct norm_gradient {
    const float* partial;
    float* d_gain;
    float* d_bias;
};

/// Adds the row blocks' sums up, in order, for `count` normalisations of one shape.
void layer_norm_reduce(thread_pool& pool, norm_shape shape, const norm_gradient* gradients, int count);

}  // namespace assay::trainer
