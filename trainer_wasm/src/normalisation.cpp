#include "normalisation.hpp"

#include <algorithm>
#include <cmath>

#include "simd.hpp"

namespace assay::trainer {
namespace {

template <class Body>
inline void for_each_chunk(int d, const Body& body) {
    for (int j = 0; j < d; j += vec_width) body(j, std::min(vec_width, d - j));
}

/// The first `count` lanes of v, zero in the others: a value that does not come from a partial load may be anything.
inline vec keep_lanes(vec v, int count) {
    if (count >= vec_width) return v;
    float lanes[vec_width];
    store(lanes, v);
    return load_partial(lanes, count);
}

}  // namespace

void layer_norm_forward(thread_pool& pool, norm_shape shape, const float* x, const float* gain, const float* bias,
                        float* y, float* statistics) {
    const int d = shape.d;
    pool.run(static_cast<std::uint32_t>(norm_blocks(shape.rows)), [&](std::uint32_t block, int) {
        const int begin = static_cast<int>(block) * norm_row_block;
        const int end = std::min(shape.rows, begin + norm_row_block);
        for (int row = begin; row < end; ++row) {
            const float* in = x + static_cast<std::ptrdiff_t>(row) * d;
            float* out = y + static_cast<std::ptrdiff_t>(row) * d;
            vec total = splat(0.0f);
            for_each_chunk(d, [&](int j, int count) { total = total + load_partial(in + j, count); });
            const float mean = sum_lanes(total) / static_cast<float>(d);
            vec squares = splat(0.0f);
            for_each_chunk(d, [&](int j, int count) {
                const vec centred = keep_lanes(load_partial(in + j, count) - splat(mean), count);
                squares = madd(centred, centred, squares);
            });
            const float variance = sum_lanes(squares) / static_cast<float>(d);
            const float inverse = 1.0f / std::sqrt(variance + layer_norm_epsilon);
            for_each_chunk(d, [&](int j, int count) {
                const vec normal = (load_partial(in + j, count) - splat(mean)) * splat(inverse);
                store_partial(out + j, madd(normal, load_partial(gain + j, count), load_partial(bias + j, count)),
                              count);
            });
            statistics[2 * row] = mean;
            statistics[2 * row + 1] = inverse;
        }
    });
}

void layer_norm_backward(thread_pool& pool, norm_shape shape, const float* x, const float* gain,
                         const float* statistics, const float* d_y, float* d_x, float* partial) {
    const int d = shape.d;
    pool.run(static_cast<std::uint32_t>(norm_blocks(shape.rows)), [&](std::uint32_t block, int) {
        const int begin = static_cast<int>(block) * norm_row_block;
        const int end = std::min(shape.rows, begin + norm_row_block);
        float* d_gain = partial + static_cast<std::ptrdiff_t>(block) * 2 * d;
        float* d_bias = d_gain + d;
        std::fill_n(d_gain, 2 * d, 0.0f);
        for (int row = begin; row < end; ++row) {
            const float* in = x + static_cast<std::ptrdiff_t>(row) * d;
            const float* gradient = d_y + static_cast<std::ptrdiff_t>(row) * d;
            float* out = d_x + static_cast<std::ptrdiff_t>(row) * d;
            const vec mean = splat(statistics[2 * row]);
            const vec inverse = splat(statistics[2 * row + 1]);
            vec sum = splat(0.0f);
            vec sum_normal = splat(0.0f);
            for_each_chunk(d, [&](int j, int count) {
                const vec normal = (load_partial(in + j, count) - mean) * inverse;
                const vec g = load_partial(gradient + j, count);
                const vec scaled = g * load_partial(gain + j, count);
                store_partial(d_gain + j, madd(g, normal, load_partial(d_gain + j, count)), count);
                store_partial(d_bias + j, load_partial(d_bias + j, count) + g, count);
                sum = sum + scaled;
                sum_normal = madd(scaled, normal, sum_normal);
            });
            const vec average = splat(sum_lanes(sum) / static_cast<float>(d));
            const vec average_normal = splat(sum_lanes(sum_normal) / static_cast<float>(d));
            for_each_chunk(d, [&](int j, int count) {
                const vec normal = (load_partial(in + j, count) - mean) * inverse;
                const vec scaled = load_partial(gradient + j, count) * load_partial(gain + j, count);
                const vec centred = scaled - average - normal * average_normal;
                store_partial(out + j, madd(centred, inverse, load_partial(out + j, count)), count);
            });
        }
    });
}

void layer_norm_reduce(thread_pool& pool, norm_shape shape, const norm_gradient* gradients, int count) {
    pool.run(static_cast<std::uint32_t>(count), [&](std::uint32_t index, int) {
        const norm_gradient& g = gradients[index];
        const int d = shape.d;
        std::fill_n(g.d_gain, d, 0.0f);
        std::fill_n(g.d_bias, d, 0.0f);
        for (int block = 0; block < norm_blocks(shape.rows); ++block) {
            const float* gain = g.partial + static_cast<std::ptrdiff_t>(block) * 2 * d;
            const float* bias = gain + d;
            for (int j = 0; j < d; ++j) g.d_gain[j] += gain[j];
            for (int j = 0; j < d; ++j) g.d_bias[j] += bias[j];
        }
    });
}

}  // namespace assay::trainer
