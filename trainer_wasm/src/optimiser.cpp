#include "optimiser.hpp"

#include <algorithm>
#include <cmath>

#include "simd.hpp"

namespace assay::trainer {

std::uint64_t optimiser_chunk_count(const std::vector<tensor_info>& layout) {
    std::uint64_t count = 0;
    for (const tensor_info& tensor : layout)
        count += (tensor.size + optimiser_chunk_floats - 1) / optimiser_chunk_floats;
    return count;
}

std::vector<optimiser_chunk> optimiser_chunks(const std::vector<tensor_info>& layout) {
    std::vector<optimiser_chunk> chunks;
    chunks.reserve(optimiser_chunk_count(layout));
    for (const tensor_info& tensor : layout) {
        for (std::uint64_t done = 0; done < tensor.size; done += optimiser_chunk_floats) {
            const auto count =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(optimiser_chunk_floats, tensor.size - done));
            chunks.push_back({tensor.offset + done, count, tensor.decays});
        }
    }
    return chunks;
}

double gradient_norm(thread_pool& pool, const std::vector<optimiser_chunk>& chunks, const optimiser_state& state) {
    pool.run(static_cast<std::uint32_t>(chunks.size()), [&](std::uint32_t index, int) {
        const optimiser_chunk& chunk = chunks[index];
        const float* g = state.gradients + chunk.begin;
        vec total = splat(0.0f);
        for (std::uint32_t j = 0; j < chunk.count; j += vec_width) {
            const vec value =
                load_partial(g + j, static_cast<int>(std::min<std::uint32_t>(vec_width, chunk.count - j)));
            total = madd(value, value, total);
        }
        state.chunk_squares[index] = sum_lanes(total);
    });
    double total = 0.0;
    for (std::size_t i = 0; i < chunks.size(); ++i) total += state.chunk_squares[i];
    return std::sqrt(total);
}

void adamw_update(thread_pool& pool, const std::vector<optimiser_chunk>& chunks, const optimiser_state& state,
                  const adamw_settings& settings, std::uint32_t step, double norm, int repeats, float* scratch) {
    const vec gradient_scale = splat(norm > settings.clip_norm ? static_cast<float>(settings.clip_norm / norm) : 1.0f);
    // Bias corrections in double; both powers vanish long before `step` matters to pow's last bit.
    const vec correction1 =
        splat(static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(settings.beta1), step))));
    const vec correction2 =
        splat(static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(settings.beta2), step))));
    const vec beta1 = splat(settings.beta1);
    const vec beta2 = splat(settings.beta2);
    const vec rest1 = splat(1.0f - settings.beta1);
    const vec rest2 = splat(1.0f - settings.beta2);
    const vec rate = splat(settings.learning_rate);
    const vec epsilon = splat(settings.epsilon);
    pool.run(static_cast<std::uint32_t>(chunks.size()), [&](std::uint32_t index, int thread) {
        const optimiser_chunk& chunk = chunks[index];
        const vec keep = splat(chunk.decays ? 1.0f - settings.learning_rate * settings.decay : 1.0f);
        const auto update = [&](float* parameters, float* moment1, float* moment2) {
            for (std::uint32_t j = 0; j < chunk.count; j += vec_width) {
                const int n = static_cast<int>(std::min<std::uint32_t>(vec_width, chunk.count - j));
                const std::uint64_t at = chunk.begin + j;
                const vec g = load_partial(state.gradients + at, n) * gradient_scale;
                const vec m = madd(load_partial(state.moment1 + at, n), beta1, g * rest1);
                const vec v = madd(load_partial(state.moment2 + at, n), beta2, g * g * rest2);
                const vec change = rate * (m * correction1) / (sqrt(v * correction2) + epsilon);
                store_partial(moment1 + j, m, n);
                store_partial(moment2 + j, v, n);
                store_partial(parameters + j, load_partial(state.parameters + at, n) * keep - change, n);
            }
        };
        float* spare = scratch + optimiser_scratch_floats * thread;
        for (int extra = 1; extra < repeats; ++extra) {
            update(spare, spare + optimiser_chunk_floats, spare + 2 * optimiser_chunk_floats);
#if defined(__GNUC__)
            asm volatile("" : : "r"(spare) : "memory");  // the results are not used: keep the compiler from seeing it
#endif
        }
        update(state.parameters + chunk.begin, state.moment1 + chunk.begin, state.moment2 + chunk.begin);
    });
}

}  // namespace assay::trainer
