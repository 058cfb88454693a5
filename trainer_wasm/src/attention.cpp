#include "attention.hpp"

#include <algorithm>
#include <cmath>

#include "tile_kernel.hpp"
#include "vector_math.hpp"

namespace assay::trainer {
namespace {

/// Queries of one block; a multiple of the tile's rows, small enough for scores of long contexts to stay in cache.
constexpr int query_block = tile_rows == 6 ? 36 : 32;
static_assert(query_block % tile_rows == 0);

int padded_keys(const model_shape& shape) {
    return panels_for(shape.ctx) * tile_columns;
}
int padded_head(const model_shape& shape) {
    return panels_for(shape.head_size()) * tile_columns;
}

/// A tile of left_columns may read this many floats past the last row of scores.
constexpr int score_slack = 16;

/// The scratch of one thread, cut into its parts.
struct workspace {
    float* keys_transposed;    // panels [head size][ctx]
    float* values_transposed;  // panels [head size][ctx]; backward only
    float* right;              // panels [ctx][head size]: values forward, keys backward
    float* scores;             // [query_block][padded ctx]: scores, then probabilities
    float* gradients;          // [query_block][padded ctx]: of probabilities, then of scores
    float* queries;            // panels [query_block][head size]
    float* outputs;            // panels [query_block][head size]
    std::size_t floats;

    workspace(const model_shape& shape, float* base) {
        const std::size_t across = static_cast<std::size_t>(padded_keys(shape)) * shape.head_size();
        const std::size_t along = static_cast<std::size_t>(padded_head(shape)) * shape.ctx;
        const std::size_t block = static_cast<std::size_t>(query_block) * padded_keys(shape) + score_slack;
        const std::size_t rows = static_cast<std::size_t>(query_block) * padded_head(shape);
        std::size_t used = 0;
        const auto take = [&](std::size_t count) {
            float* p = base ? base + used : nullptr;
            used += (count + 15) / 16 * 16;
            return p;
        };
        keys_transposed = take(across);
        values_transposed = take(across);
        right = take(along);
        scores = take(block);
        gradients = take(block);
        queries = take(rows);
        outputs = take(rows);
        floats = used;
    }
};

/// Where one head of one sequence lies in [tokens, width] arrays.
struct head_view {
    int sequence, head, head_size, width;

    head_view(const model_shape& shape, std::uint32_t task)
        : sequence(static_cast<int>(task) / shape.heads),
          head(static_cast<int>(task) % shape.heads),
          head_size(shape.head_size()),
          width(shape.d_model) {}

    std::size_t in_qkv(const model_shape& shape, int part) const {
        return static_cast<std::size_t>(sequence) * shape.ctx * 3 * width + part * width + head * head_size;
    }
    std::size_t in_out(const model_shape& shape) const {
        return static_cast<std::size_t>(sequence) * shape.ctx * width + head * head_size;
    }
    std::size_t in_statistics(const model_shape& shape) const {
        return (static_cast<std::size_t>(sequence) * shape.heads + head) * shape.ctx * 2;
    }
};

/// out[row][column] = factor * left * right for `rows` rows, `columns` columns.
template <class Left>
void multiply_store(Left left, int rows, const float* right, int right_depth, int columns, int depth, float* out,
                    std::ptrdiff_t out_stride, float factor) {
    multiply_block(left, 0, rows, right, right_depth, 0, panels_for(columns), 0, depth,
                   [&](const float* tile, int row, int tile_row_count, int panel) {
                       for_each_vector(tile, row, tile_row_count, panel, columns,
                                       [&](int r, int column, int count, vec sum) {
                                           store_partial(out + r * out_stride + column, sum * splat(factor), count);
                                       });
                   });
}

/// out[row][column] += left * right.
template <class Left>
void multiply_add(Left left, int rows, const float* right, int right_depth, int columns, int depth, float* out,
                  std::ptrdiff_t out_stride) {
    multiply_block(left, 0, rows, right, right_depth, 0, panels_for(columns), 0, depth,
                   [&](const float* tile, int row, int tile_row_count, int panel) {
                       for_each_vector(tile, row, tile_row_count, panel, columns,
                                       [&](int r, int column, int count, vec sum) {
                                           float* at = out + r * out_stride + column;
                                           store_partial(at, load_partial(at, count) + sum, count);
                                       });
                   });
}

float row_maximum(const float* row, int count) {
    vec largest = splat(row[0]);
    int j = 0;
    for (; j + vec_width <= count; j += vec_width) largest = max(largest, load(row + j));
    float result = max_lanes(largest);
    for (; j < count; ++j) result = std::max(result, row[j]);
    return result;
}

/// row = e^(row - largest) over the first `valid` keys, zero up to `keys`; returns the sum.
float exponentiate(float* row, int valid, int keys, float largest) {
    vec total = splat(0.0f);
    int j = 0;
    for (; j + vec_width <= valid; j += vec_width) {
        const vec p = exp(load(row + j) - splat(largest));
        store(row + j, p);
        total = total + p;
    }
    float sum = sum_lanes(total);
    if (j < valid) {
        float lanes[vec_width];
        store(lanes, exp(load_partial(row + j, valid - j) - splat(largest)));
        for (int i = 0; j < valid; ++i, ++j) {
            row[j] = lanes[i];
            sum += lanes[i];
        }
    }
    for (; j < keys; ++j) row[j] = 0.0f;
    return sum;
}

/// probability *= scale; gradient = probability * (gradient - mean) * factor: the softmax's own backward.
void softmax_backward(float* probability, float* gradient, int keys, float scale, float mean, float factor) {
    for (int j = 0; j < keys; j += vec_width) {
        const int count = std::min(vec_width, keys - j);
        const vec p = load_partial(probability + j, count) * splat(scale);
        store_partial(probability + j, p, count);
        const vec g = p * (load_partial(gradient + j, count) - splat(mean)) * splat(factor);
        store_partial(gradient + j, g, count);
    }
}

float dot(const float* a, const float* b, int count) {
    vec total = splat(0.0f);
    for (int j = 0; j < count; j += vec_width) {
        const int n = std::min(vec_width, count - j);
        total = madd(load_partial(a + j, n), load_partial(b + j, n), total);
    }
    return sum_lanes(total);
}

}  // namespace

std::size_t attention_scratch_floats(const model_shape& shape) {
    return workspace(shape, nullptr).floats;
}

std::size_t attention_statistics_floats(const model_shape& shape) {
    return static_cast<std::size_t>(shape.tokens()) * shape.heads * 2;
}

void attention_forward(thread_pool& pool, const model_shape& shape, const float* qkv, float* out, float* statistics,
                       float* scratch) {
    const std::size_t scratch_floats = attention_scratch_floats(shape);
    const int stride = 3 * shape.d_model;
    const int keys_stride = padded_keys(shape);
    const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_size()));
    pool.run(static_cast<std::uint32_t>(shape.batch * shape.heads), [&](std::uint32_t task, int thread) {
        const head_view view(shape, task);
        const workspace space(shape, scratch + scratch_floats * thread);
        const int size = view.head_size;
        const float* q = qkv + view.in_qkv(shape, 0);
        const float* k = qkv + view.in_qkv(shape, 1);
        const float* v = qkv + view.in_qkv(shape, 2);
        float* head_out = out + view.in_out(shape);
        float* head_statistics = statistics + view.in_statistics(shape);
        pack_transposed<tile_columns>(k, stride, size, shape.ctx, 0, shape.ctx, space.keys_transposed);
        pack_columns<tile_columns>(v, stride, shape.ctx, size, 0, size, space.right, nullptr);
        for (int begin = 0; begin < shape.ctx; begin += query_block) {
            const int rows = std::min(query_block, shape.ctx - begin);
            const int keys = begin + rows;  // causal: later keys have no weight for any of these queries
            multiply_store(left_rows{q + static_cast<std::ptrdiff_t>(begin) * stride, stride}, rows,
                           space.keys_transposed, size, keys, size, space.scores, keys_stride, scale);
            for (int r = 0; r < rows; ++r) {
                float* row = space.scores + static_cast<std::ptrdiff_t>(r) * keys_stride;
                const int valid = begin + r + 1;
                const float largest = row_maximum(row, valid);
                const float sum = exponentiate(row, valid, keys, largest);
                head_statistics[2 * (begin + r)] = largest;
                head_statistics[2 * (begin + r) + 1] = 1.0f / sum;
            }
            multiply_block(
                left_rows{space.scores, keys_stride}, 0, rows, space.right, shape.ctx, 0, panels_for(size), 0, keys,
                [&](const float* tile, int row, int tile_row_count, int panel) {
                    for_each_vector(tile, row, tile_row_count, panel, size, [&](int r, int column, int count, vec sum) {
                        const float inverse = head_statistics[2 * (begin + r) + 1];
                        float* at = head_out + static_cast<std::ptrdiff_t>(begin + r) * view.width + column;
                        store_partial(at, sum * splat(inverse), count);
                    });
                });
        }
    });
}

void attention_backward(thread_pool& pool, const model_shape& shape, const float* qkv, const float* out,
                        const float* statistics, const float* d_out, float* d_qkv, float* scratch) {
    const std::size_t scratch_floats = attention_scratch_floats(shape);
    const int stride = 3 * shape.d_model;
    const int keys_stride = padded_keys(shape);
    const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_size()));
    pool.run(static_cast<std::uint32_t>(shape.batch * shape.heads), [&](std::uint32_t task, int thread) {
        const head_view view(shape, task);
        const workspace space(shape, scratch + scratch_floats * thread);
        const int size = view.head_size;
        const float* q = qkv + view.in_qkv(shape, 0);
        const float* k = qkv + view.in_qkv(shape, 1);
        const float* v = qkv + view.in_qkv(shape, 2);
        float* d_q = d_qkv + view.in_qkv(shape, 0);
        float* d_k = d_qkv + view.in_qkv(shape, 1);
        float* d_v = d_qkv + view.in_qkv(shape, 2);
        const float* head_out = out + view.in_out(shape);
        const float* head_d_out = d_out + view.in_out(shape);
        const float* head_statistics = statistics + view.in_statistics(shape);
        pack_transposed<tile_columns>(k, stride, size, shape.ctx, 0, shape.ctx, space.keys_transposed);
        pack_transposed<tile_columns>(v, stride, size, shape.ctx, 0, shape.ctx, space.values_transposed);
        pack_columns<tile_columns>(k, stride, shape.ctx, size, 0, size, space.right, nullptr);
        for (int t = 0; t < shape.ctx; ++t) {
            std::fill_n(d_k + static_cast<std::ptrdiff_t>(t) * stride, size, 0.0f);
            std::fill_n(d_v + static_cast<std::ptrdiff_t>(t) * stride, size, 0.0f);
        }
        for (int begin = 0; begin < shape.ctx; begin += query_block) {
            const int rows = std::min(query_block, shape.ctx - begin);
            const int keys = begin + rows;
            const float* block_q = q + static_cast<std::ptrdiff_t>(begin) * stride;
            const float* block_d_out = head_d_out + static_cast<std::ptrdiff_t>(begin) * view.width;
            multiply_store(left_rows{block_q, stride}, rows, space.keys_transposed, size, keys, size, space.scores,
                           keys_stride, scale);
            multiply_store(left_rows{block_d_out, view.width}, rows, space.values_transposed, size, keys, size,
                           space.gradients, keys_stride, 1.0f);
            for (int r = 0; r < rows; ++r) {
                float* row = space.scores + static_cast<std::ptrdiff_t>(r) * keys_stride;
                float* row_gradient = space.gradients + static_cast<std::ptrdiff_t>(r) * keys_stride;
                const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(begin + r) * view.width;
                exponentiate(row, begin + r + 1, keys, head_statistics[2 * (begin + r)]);
                // sum over keys of p dp is the dot product of the output with its own gradient.
                const float mean = dot(head_out + at, head_d_out + at, size);
                softmax_backward(row, row_gradient, keys, head_statistics[2 * (begin + r) + 1], mean, scale);
            }
            multiply_store(left_rows{space.gradients, keys_stride}, rows, space.right, shape.ctx, size, keys,
                           d_q + static_cast<std::ptrdiff_t>(begin) * stride, stride, 1.0f);
            pack_columns<tile_columns>(block_q, stride, rows, size, 0, size, space.queries, nullptr);
            pack_columns<tile_columns>(block_d_out, view.width, rows, size, 0, size, space.outputs, nullptr);
            multiply_add(left_columns{space.gradients, keys_stride}, keys, space.queries, rows, size, rows, d_k,
                         stride);
            multiply_add(left_columns{space.scores, keys_stride}, keys, space.outputs, rows, size, rows, d_v, stride);
        }
    });
}

}  // namespace assay::trainer
