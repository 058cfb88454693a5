// One packed matrix product for forward, input gradients and weight gradients: C[m, n] = A[m, k] B[k, n] in f32.
//
// Packing absorbs the transposes, the epilogue absorbs bias, GELU, GELU' and residual, and sums of columns (bias
// gradients) come with the packing of B. The blocking follows Goto and van de Geijn, "Anatomy of high-performance
// matrix multiplication" (2008).
#pragma once

#include <cstddef>
#include <cstdint>

#include "thread_pool.hpp"

namespace assay::trainer {

/// An operand as it lies in memory: row-major with `stride` floats a row, and taken transposed where asked.
struct operand {
    const float* data;
    int stride;
    bool transposed = false;
};

/// What happens to each sum on its way to memory.
enum class epilogue_kind {
    store,          ///< C = sum
    add_bias,       ///< C = sum + bias[column]
    bias_residual,  ///< C = sum + bias[column] + other
    bias_gelu,      ///< C = sum + bias[column], second = gelu(C)
    gelu_gradient,  ///< C = sum * gelu'(other)
};

struct epilogue {
    epilogue_kind kind = epilogue_kind::store;
    const float* bias = nullptr;   ///< [n]
    const float* other = nullptr;  ///< [m, n], as C
    float* second = nullptr;       ///< [m, n], as C
};

struct gemm_call {
    int m, n, k;
    operand a, b;
    float* c;  ///< [m, n] row-major, contiguous rows of n floats
    epilogue finish{};
    float* column_sums = nullptr;  ///< [n] sums of B's columns over k; B must not be transposed
};

/// Floats of packing space that a product of this shape needs: B always, A where it is transposed.
std::size_t gemm_scratch_floats(int m, int n, int k, bool a_transposed);

/// Runs the product on the pool. The result does not depend on the number of threads.
void gemm(thread_pool& pool, float* scratch, const gemm_call& call);

}  // namespace assay::trainer
