#include "gemm.hpp"

#include <algorithm>

#include "tile_kernel.hpp"
#include "vector_math.hpp"

namespace assay::trainer {
namespace {

/// Depth of one pass over k: a right panel of it (12 KiB at 8 columns) stays in a 32 KiB first-level cache beside the
/// left rows. Fixed, since it decides the order of additions.
constexpr int depth_block = 384;
/// Rows of one task: its left block (96 x 384 floats, 144 KiB) stays in the second-level cache.
constexpr int row_block = 96;
static_assert(row_block % tile_rows == 0);
/// Right panels of one task: a pass over them (24 x 8 columns x 384 floats, 288 KiB) stays in the second-level cache
/// while every group of left rows meets them.
constexpr int panels_at_once = 192 / tile_columns;
/// Columns that one packing task takes: whole cache lines of the source, and few enough that the packing of a weight
/// gradient's operands (192 columns at times) still has work for sixteen threads.
constexpr int pack_block = tile_rows == 6 ? 48 : 32;
static_assert(pack_block % tile_columns == 0 && pack_block % tile_rows == 0);
/// Tasks a thread at least, where the shape allows, so that a disturbed thread delays the others little.
constexpr int tasks_per_thread = 6;

int ceil_divide(int a, int b) {
    return (a + b - 1) / b;
}

template <epilogue_kind Kind>
inline void finish_vector(const gemm_call& call, std::size_t at, int column, int count, vec sum) {
    const epilogue& e = call.finish;
    if constexpr (Kind == epilogue_kind::store) {
        store_partial(call.c + at, sum, count);
    } else if constexpr (Kind == epilogue_kind::add_bias) {
        store_partial(call.c + at, sum + load_partial(e.bias + column, count), count);
    } else if constexpr (Kind == epilogue_kind::bias_residual) {
        const vec biased = sum + load_partial(e.bias + column, count);
        store_partial(call.c + at, biased + load_partial(e.other + at, count), count);
    } else if constexpr (Kind == epilogue_kind::bias_gelu) {
        const vec biased = sum + load_partial(e.bias + column, count);
        store_partial(call.c + at, biased, count);
        store_partial(e.second + at, gelu(biased), count);
    } else {
        store_partial(call.c + at, sum * gelu_derivative(load_partial(e.other + at, count)), count);
    }
}

/// One block of C over the whole of k, in passes of depth_block; sums wait in C between passes.
template <epilogue_kind Kind, class Left>
void compute_block(const gemm_call& call, Left a, const float* right, int row_begin, int row_end, int panel_begin,
                   int panel_end) {
    for (int k = 0; k < call.k; k += depth_block) {
        const int k_end = std::min(call.k, k + depth_block);
        const bool first = k == 0;
        const bool last = k_end == call.k;
        multiply_block(a, row_begin, row_end, right, call.k, panel_begin, panel_end, k, k_end,
                       [&](const float* tile, int row, int rows, int panel) {
                           for_each_vector(tile, row, rows, panel, call.n, [&](int r, int column, int count, vec sum) {
                               const std::size_t at = static_cast<std::size_t>(r) * call.n + column;
                               if (!first) sum = load_partial(call.c + at, count) + sum;
                               if (last) {
                                   finish_vector<Kind>(call, at, column, count, sum);
                               } else {
                                   store_partial(call.c + at, sum, count);
                               }
                           });
                       });
    }
}

template <epilogue_kind Kind>
void compute(thread_pool& pool, const gemm_call& call, const float* right, const float* left) {
    const int row_blocks = ceil_divide(call.m, row_block);
    const int panels = panels_for(call.n);
    const int wanted = pool.threads() == 1 ? 1 : ceil_divide(tasks_per_thread * pool.threads(), row_blocks);
    const int panels_a_task = std::min(ceil_divide(panels, std::min(wanted, panels)), panels_at_once);
    const int column_blocks = ceil_divide(panels, panels_a_task);
    pool.run(static_cast<std::uint32_t>(row_blocks * column_blocks), [&](std::uint32_t task, int) {
        const int row_begin = static_cast<int>(task) / column_blocks * row_block;
        const int row_end = std::min(call.m, row_begin + row_block);
        const int panel_begin = static_cast<int>(task) % column_blocks * panels_a_task;
        const int panel_end = std::min(panels, panel_begin + panels_a_task);
        if (call.a.transposed) {
            compute_block<Kind>(call, left_panels{left, call.k}, right, row_begin, row_end, panel_begin, panel_end);
        } else {
            compute_block<Kind>(call, left_rows{call.a.data, call.a.stride}, right, row_begin, row_end, panel_begin,
                                panel_end);
        }
    });
}

std::size_t right_floats(int n, int k) {
    return static_cast<std::size_t>(panels_for(n)) * tile_columns * k;
}

void pack(thread_pool& pool, const gemm_call& call, float* right, float* left) {
    const int right_tasks = ceil_divide(call.n, pack_block);
    const int left_tasks = call.a.transposed ? ceil_divide(call.m, pack_block) : 0;
    pool.run(static_cast<std::uint32_t>(right_tasks + left_tasks), [&](std::uint32_t task, int) {
        if (static_cast<int>(task) < right_tasks) {
            const int begin = static_cast<int>(task) * pack_block;
            const int end = std::min(call.n, begin + pack_block);
            if (call.b.transposed) {
                pack_transposed<tile_columns>(call.b.data, call.b.stride, call.k, call.n, begin, end, right);
            } else {
                pack_columns<tile_columns>(call.b.data, call.b.stride, call.k, call.n, begin, end, right,
                                           call.column_sums);
            }
        } else {
            const int begin = (static_cast<int>(task) - right_tasks) * pack_block;
            const int end = std::min(call.m, begin + pack_block);
            pack_columns<tile_rows>(call.a.data, call.a.stride, call.k, call.m, begin, end, left, nullptr);
        }
    });
}

}  // namespace

std::size_t gemm_scratch_floats(int m, int n, int k, bool a_transposed) {
    const std::size_t left = a_transposed ? static_cast<std::size_t>(left_panels_for(m)) * tile_rows * k : 0;
    return right_floats(n, k) + left;
}

void gemm(thread_pool& pool, float* scratch, const gemm_call& call) {
    float* right = scratch;
    float* left = scratch + right_floats(call.n, call.k);
    pack(pool, call, right, left);
    switch (call.finish.kind) {
        case epilogue_kind::store:
            return compute<epilogue_kind::store>(pool, call, right, left);
        case epilogue_kind::add_bias:
            return compute<epilogue_kind::add_bias>(pool, call, right, left);
        case epilogue_kind::bias_residual:
            return compute<epilogue_kind::bias_residual>(pool, call, right, left);
        case epilogue_kind::bias_gelu:
            return compute<epilogue_kind::bias_gelu>(pool, call, right, left);
        case epilogue_kind::gelu_gradient:
            return compute<epilogue_kind::gelu_gradient>(pool, call, right, left);
    }
}

}  // namespace assay::trainer
