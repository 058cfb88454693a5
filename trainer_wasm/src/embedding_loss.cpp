#include "embedding_loss.hpp"

#include <algorithm>
#include <cmath>

#include "vector_math.hpp"

namespace assay::trainer {
namespace {

constexpr int row_block = 32;
/// Columns of one task of the embedding gradient: a cache line or two, so that threads share none.
constexpr int column_block = 32;

std::uint32_t blocks(int count, int block) {
    return static_cast<std::uint32_t>((count + block - 1) / block);
}

void add_row(float* to, const float* from, int count) {
    for (int j = 0; j < count; j += vec_width) {
        const int n = std::min(vec_width, count - j);
        store_partial(to + j, load_partial(to + j, n) + load_partial(from + j, n), n);
    }
}

}  // namespace

void embedding_forward(thread_pool& pool, const model_shape& shape, const std::int32_t* tokens, const float* wte,
                       const float* wpe, float* x) {
    const int d = shape.d_model;
    pool.run(blocks(shape.tokens(), row_block), [&](std::uint32_t block, int) {
        const int begin = static_cast<int>(block) * row_block;
        const int end = std::min(shape.tokens(), begin + row_block);
        for (int t = begin; t < end; ++t) {
            const float* token = wte + static_cast<std::ptrdiff_t>(tokens[t]) * d;
            const float* position = wpe + static_cast<std::ptrdiff_t>(t % shape.ctx) * d;
            float* out = x + static_cast<std::ptrdiff_t>(t) * d;
            for (int j = 0; j < d; j += vec_width) {
                const int n = std::min(vec_width, d - j);
                store_partial(out + j, load_partial(token + j, n) + load_partial(position + j, n), n);
            }
        }
    });
}

void embedding_backward(thread_pool& pool, const model_shape& shape, const std::int32_t* tokens, const float* d_x,
                        float* d_wte, float* d_wpe) {
    const int d = shape.d_model;
    // A task owns some columns of both tables, so no two tasks add to one number and the order is the tokens' own.
    pool.run(blocks(d, column_block), [&](std::uint32_t block, int) {
        const int begin = static_cast<int>(block) * column_block;
        const int count = std::min(column_block, d - begin);
        for (int position = 0; position < shape.ctx; ++position)
            std::fill_n(d_wpe + static_cast<std::ptrdiff_t>(position) * d + begin, count, 0.0f);
        for (int t = 0; t < shape.tokens(); ++t) {
            const float* from = d_x + static_cast<std::ptrdiff_t>(t) * d + begin;
            add_row(d_wte + static_cast<std::ptrdiff_t>(tokens[t]) * d + begin, from, count);
            add_row(d_wpe + static_cast<std::ptrdiff_t>(t % shape.ctx) * d + begin, from, count);
        }
    });
}

float cross_entropy(thread_pool& pool, int tokens, float* logits, const std::int32_t* targets, float* row_losses) {
    static_assert(vocabulary_size % vec_width == 0);
    const float weight = 1.0f / static_cast<float>(tokens);
    pool.run(blocks(tokens, row_block), [&](std::uint32_t block, int) {
        const int begin = static_cast<int>(block) * row_block;
        const int end = std::min(tokens, begin + row_block);
        for (int t = begin; t < end; ++t) {
            float* row = logits + static_cast<std::ptrdiff_t>(t) * vocabulary_size;
            vec largest = load(row);
            for (int j = vec_width; j < vocabulary_size; j += vec_width) largest = max(largest, load(row + j));
            const float top = max_lanes(largest);
            const float target_logit = row[targets[t]];
            vec total = splat(0.0f);
            for (int j = 0; j < vocabulary_size; j += vec_width) {
                const vec p = exp(load(row + j) - splat(top));
                store(row + j, p);
                total = total + p;
            }
            const float sum = sum_lanes(total);
            row_losses[t] = std::log(sum) + top - target_logit;
            const vec factor = splat(weight / sum);
            for (int j = 0; j < vocabulary_size; j += vec_width) store(row + j, load(row + j) * factor);
            row[targets[t]] -= weight;
        }
    });
    double total = 0.0;
    for (int t = 0; t < tokens; ++t) total += row_losses[t];
    return static_cast<float>(total / tokens);
}

}  // namespace assay::trainer
