// The register tile at the heart of every product: tile_rows x tile_columns sums of `depth` products each, and the loop
// that covers a block of C with such tiles. Used by the packed GEMM and by attention.
//
// The right operand always comes in panels: columns in groups of tile_columns, each group [depth][tile_columns],
// contiguous, missing columns filled with zero. The left operand comes in one of three layouts. Every element of C is
// its own chain of additions in the order of k, whatever tile it falls into, so block sizes never change a result.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "simd.hpp"

namespace assay::trainer {

constexpr int panels_for(int columns) {
    return (columns + tile_columns - 1) / tile_columns;
}
constexpr int left_panels_for(int rows) {
    return (rows + tile_rows - 1) / tile_rows;
}

/// Element (i, k) at data[i * stride + k].
struct left_rows {
    const float* data;
    std::ptrdiff_t stride;
};

/// Element (i, k) at data[k * stride + i]. Memory of a whole tile must be readable past the last row.
struct left_columns {
    const float* data;
    std::ptrdiff_t stride;
};

/// Packed: rows in groups of tile_rows, each group [depth][tile_rows].
struct left_panels {
    const float* data;
    std::ptrdiff_t depth;
};

namespace detail {

/// Calls body(0), body(1), ... with compile-time indices: the accumulators below must be distinct variables to the
/// compiler, in registers, and a loop that is unrolled late leaves them in memory.
template <int Count, class Body>
inline __attribute__((always_inline)) void unrolled(const Body& body) {
    [&]<int... Index>(std::integer_sequence<int, Index...>) __attribute__((always_inline)) {
        (body(std::integral_constant<int, Index>{}), ...);
    }
    (std::make_integer_sequence<int, Count>{});
}

struct accumulators {
    vec sum[tile_rows][tile_vectors];
};

/// Forces `value` to be complete here, and no load to move past. LLVM's WebAssembly backend would otherwise gather
/// products by accumulator, which keeps all their operands alive at once, more than V8 has registers for.
inline __attribute__((always_inline)) void pin([[maybe_unused]] vec& value) {
#if defined(__wasm_simd128__) && !defined(ASSAY_SCALAR)
    asm volatile("" : "+r"(value)::"memory");
#endif
}

/// One k of the tile: `left(i)` is the address of row i's element.
template <class Left>
inline __attribute__((always_inline)) void rank_one_update(accumulators& c, const float* b, const Left& left) {
    vec right[tile_vectors];
    unrolled<tile_vectors>([&](auto v) __attribute__((always_inline)) { right[v] = load(b + v * vec_width); });
    unrolled<tile_rows>([&](auto i) __attribute__((always_inline)) {
        const vec value = load_splat(left(i));
        unrolled<tile_vectors>([&](auto v) __attribute__((always_inline)) {
            c.sum[i][v] = madd(value, right[v], c.sum[i][v]);
            pin(c.sum[i][v]);
        });
    });
}

inline __attribute__((always_inline)) void store_tile(const accumulators& c, float* tile) {
    unrolled<tile_rows>([&](auto i) __attribute__((always_inline)) {
        unrolled<tile_vectors>([&](auto v) __attribute__((always_inline)) {
            store(tile + i * tile_columns + v * vec_width, c.sum[i][v]);
        });
    });
}

// V8 spills registers in an unrolled body: 43 GFLOP/s with one k a turn, 29 with four (relaxed SIMD, one thread,
// operands in the first-level cache). Native compilers gain from four. The kernels stay functions of their own, since
// a register allocator does worse in a large body.
#if defined(__wasm__)
#define ASSAY_DEPTH_LOOP _Pragma("clang loop unroll(disable)")
#else
#define ASSAY_DEPTH_LOOP _Pragma("GCC unroll 4")
#endif

/// Left operand row by row: row i at rows[i].
inline __attribute__((noinline)) void kernel_rows(const float* const (&rows)[tile_rows], const float* b, int depth,
                                                  float* tile) {
    accumulators c{};
    const float* row[tile_rows];
    unrolled<tile_rows>([&](auto i) __attribute__((always_inline)) { row[i] = rows[i]; });
    ASSAY_DEPTH_LOOP
    for (int k = 0; k < depth; ++k) {
        rank_one_update(
            c, b, [&](auto i) __attribute__((always_inline)) { return row[i]; });
        unrolled<tile_rows>([&](auto i) __attribute__((always_inline)) { row[i] += 1; });
        b += tile_columns;
    }
    store_tile(c, tile);
}

/// Left operand with the tile's rows side by side, the next k `stride` floats on.
inline __attribute__((noinline)) void kernel_columns(const float* a, std::ptrdiff_t stride, const float* b, int depth,
                                                     float* tile) {
    accumulators c{};
    ASSAY_DEPTH_LOOP
    for (int k = 0; k < depth; ++k) {
        rank_one_update(
            c, b, [&](auto i) __attribute__((always_inline)) { return a + i; });
        a += stride;
        b += tile_columns;
    }
    store_tile(c, tile);
}

#undef ASSAY_DEPTH_LOOP

inline void multiply_tile(left_rows a, int row, int row_end, int k, const float* b, int depth, float* tile) {
    const float* rows[tile_rows];
    for (int i = 0; i < tile_rows; ++i) {
        // Rows past the end repeat the last one; their results are not used.
        const int r = row + i < row_end ? row + i : row_end - 1;
        rows[i] = a.data + r * a.stride + k;
    }
    kernel_rows(rows, b, depth, tile);
}

inline void multiply_tile(left_columns a, int row, int, int k, const float* b, int depth, float* tile) {
    kernel_columns(a.data + k * a.stride + row, a.stride, b, depth, tile);
}

inline void multiply_tile(left_panels a, int row, int, int k, const float* b, int depth, float* tile) {
    kernel_columns(a.data + (row / tile_rows) * (a.depth * tile_rows) + k * tile_rows, tile_rows, b, depth, tile);
}

}  // namespace detail

/// Covers rows row_begin..row_end-1 (row_begin a multiple of tile_rows) and right panels panel_begin..panel_end-1 with
/// tiles over k_begin..k_end-1 and calls finish(tile, row, rows, panel) for each, `tile` being
/// [tile_rows][tile_columns]. `right_depth` is the panels' full depth.
template <class Left, class Finish>
inline void multiply_block(Left a, int row_begin, int row_end, const float* right, int right_depth, int panel_begin,
                           int panel_end, int k_begin, int k_end, const Finish& finish) {
    alignas(64) float tile[tile_rows * tile_columns];
    for (int row = row_begin; row < row_end; row += tile_rows) {
        for (int panel = panel_begin; panel < panel_end; ++panel) {
            const float* b = right + (static_cast<std::ptrdiff_t>(panel) * right_depth + k_begin) * tile_columns;
            detail::multiply_tile(a, row, row_end, k_begin, b, k_end - k_begin, tile);
            finish(tile, row, row_end - row < tile_rows ? row_end - row : tile_rows, panel);
        }
    }
}

/// Calls body(row, column, count, value) for every vector of a finished tile that holds columns below `columns`.
template <class Body>
inline __attribute__((always_inline)) void for_each_vector(const float* tile, int row, int rows, int panel, int columns,
                                                           const Body& body) {
    const int first = panel * tile_columns;
    if (rows == tile_rows && columns - first >= tile_columns) {
        // The common case, apart: with constant counts every partial load and store below becomes a whole one.
        for (int i = 0; i < tile_rows; ++i)
            detail::unrolled<tile_vectors>([&](auto v) __attribute__((always_inline)) {
                body(row + i, first + v * vec_width, vec_width, load(tile + i * tile_columns + v * vec_width));
            });
        return;
    }
    for (int i = 0; i < rows; ++i) {
        for (int v = 0; v < tile_vectors; ++v) {
            const int column = first + v * vec_width;
            const int count = columns - column < vec_width ? columns - column : vec_width;
            if (count <= 0) break;
            body(row + i, column, count, load(tile + i * tile_columns + v * vec_width));
        }
    }
}

/// Packs columns column_begin..column_end-1 of source[k * stride + column] into groups of `Width`, each group
/// [depth][Width], zero past `columns`. column_begin is a multiple of Width. `sums`, where not null, receives each
/// column's sum over k (a bias gradient comes for free with the packing of an output gradient).
template <int Width>
void pack_columns(const float* source, std::ptrdiff_t stride, int depth, int columns, int column_begin, int column_end,
                  float* packed, float* sums) {
    for (int column = column_begin; column < column_end; column += Width) {
        const int count = columns - column < Width ? columns - column : Width;
        float* out = packed + static_cast<std::ptrdiff_t>(column / Width) * depth * Width;
        const float* in = source + column;
        float total[Width] = {};
        if (count == Width) {
            for (int k = 0; k < depth; ++k, in += stride, out += Width) {
                for (int j = 0; j < Width; ++j) out[j] = in[j];
                if (sums)
                    for (int j = 0; j < Width; ++j) total[j] += in[j];
            }
        } else {
            for (int k = 0; k < depth; ++k, in += stride, out += Width) {
                for (int j = 0; j < count; ++j) out[j] = in[j];
                for (int j = count; j < Width; ++j) out[j] = 0.0f;
                if (sums)
                    for (int j = 0; j < count; ++j) total[j] += in[j];
            }
        }
        if (sums)
            for (int j = 0; j < count; ++j) sums[column + j] = total[j];
    }
}

/// The same for a transposed source: element (k, column) at source[column * stride + k].
template <int Width>
void pack_transposed(const float* source, std::ptrdiff_t stride, int depth, int columns, int column_begin,
                     int column_end, float* packed) {
    for (int column = column_begin; column < column_end; column += Width) {
        const int count = columns - column < Width ? columns - column : Width;
        float* out = packed + static_cast<std::ptrdiff_t>(column / Width) * depth * Width;
        const float* in = source + column * stride;
        if (count < Width)
            for (int k = 0; k < depth; ++k)
                for (int j = count; j < Width; ++j) out[k * Width + j] = 0.0f;
        for (int j = 0; j < count; ++j) {
            const float* row = in + j * stride;
            for (int k = 0; k < depth; ++k) out[k * Width + j] = row[k];
        }
    }
}

}  // namespace assay::trainer
