// The one place that knows the machine's vectors. Everything above is written once, for `vec` of `vec_width` floats.
//
// Builds: WebAssembly SIMD (4 lanes; relaxed madd where the build asks for it), AVX2 with FMA (8), NEON (4), any other
// machine with 4-lane vectors (SSE2), and ASSAY_SCALAR (1 lane, no vector instruction at all).
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__wasm_simd128__) && !defined(ASSAY_SCALAR)
#include <wasm_simd128.h>
#elif defined(__AVX2__) && !defined(ASSAY_SCALAR)
#include <immintrin.h>
#elif defined(__ARM_NEON) && !defined(ASSAY_SCALAR)
#include <arm_neon.h>
#endif

namespace assay::trainer {

#if defined(ASSAY_SCALAR)
inline constexpr int vec_width = 1;
using vec = float;
using ivec = std::int32_t;
inline constexpr const char* simd_name = "scalar";
#else
#if defined(__AVX2__)
inline constexpr int vec_width = 8;
inline constexpr const char* simd_name = "avx2-fma";
#elif defined(__wasm_relaxed_simd__)
inline constexpr int vec_width = 4;
inline constexpr const char* simd_name = "wasm-relaxed-simd";
#elif defined(__wasm_simd128__)
inline constexpr int vec_width = 4;
inline constexpr const char* simd_name = "wasm-simd";
#elif defined(__ARM_NEON)
inline constexpr int vec_width = 4;
inline constexpr const char* simd_name = "neon";
#else
inline constexpr int vec_width = 4;
inline constexpr const char* simd_name = "vector-4";
#endif
typedef float vec __attribute__((vector_size(4 * vec_width)));
typedef std::int32_t ivec __attribute__((vector_size(4 * vec_width)));
#endif

/// Rows and vectors of the GEMM's register tile. 16 vector registers hold 4x2 accumulators beside their operands in
/// V8, which keeps some for itself; a native compiler fits 6x2; 32 registers (AArch64) take 8x2.
#if defined(__AVX2__) && !defined(ASSAY_SCALAR)
inline constexpr int tile_rows = 6;
#elif defined(__aarch64__) && !defined(ASSAY_SCALAR)
inline constexpr int tile_rows = 8;
#else
inline constexpr int tile_rows = 4;
#endif
inline constexpr int tile_vectors = 2;
inline constexpr int tile_columns = tile_vectors * vec_width;

inline vec load(const float* p) {
    vec v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

inline void store(float* p, vec v) {
    std::memcpy(p, &v, sizeof v);
}

inline vec splat(float x) {
#if defined(ASSAY_SCALAR)
    return x;
#else
    return x - vec{};  // x - 0 is x for every x, so compilers fold it into a broadcast
#endif
}

/// The value at `p` in every lane; a single instruction on every machine above.
inline vec load_splat(const float* p) {
#if defined(__wasm_simd128__) && !defined(ASSAY_SCALAR)
    return (vec)wasm_v128_load32_splat(p);
#else
    return splat(*p);
#endif
}

/// The first `count` (1..vec_width) floats at `p`, zero in the other lanes; reads nothing beyond them.
inline vec load_partial(const float* p, int count) {
    if (count >= vec_width) return load(p);
    float lanes[vec_width] = {};
    for (int i = 0; i < count; ++i) lanes[i] = p[i];
    return load(lanes);
}

/// Writes the first `count` lanes.
inline void store_partial(float* p, vec v, int count) {
    if (count >= vec_width) {
        store(p, v);
        return;
    }
    float lanes[vec_width];
    store(lanes, v);
    for (int i = 0; i < count; ++i) p[i] = lanes[i];
}

/// a * b + c, fused where the build has it: AVX2 and NEON always, relaxed SIMD as the engine likes, else rounded twice.
inline vec madd(vec a, vec b, vec c) {
#if defined(ASSAY_SCALAR)
    return a * b + c;
#elif defined(__wasm_relaxed_simd__)
    return (vec)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#elif defined(__AVX2__) && defined(__FMA__)
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__ARM_NEON)
    return (vec)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    return a * b + c;
#endif
}

inline vec max(vec a, vec b) {
#if defined(__wasm_simd128__) && !defined(ASSAY_SCALAR)
    return (vec)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
#else
    return a > b ? a : b;
#endif
}

inline vec min(vec a, vec b) {
#if defined(__wasm_simd128__) && !defined(ASSAY_SCALAR)
    return (vec)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
#else
    return a < b ? a : b;
#endif
}

inline vec sqrt(vec a) {
#if defined(ASSAY_SCALAR)
    return __builtin_sqrtf(a);
#elif defined(__wasm_simd128__)
    return (vec)wasm_f32x4_sqrt((v128_t)a);
#elif defined(__AVX2__)
    return (vec)_mm256_sqrt_ps((__m256)a);
#else
    vec r;
    for (int i = 0; i < vec_width; ++i) r[i] = __builtin_sqrtf(a[i]);
    return r;
#endif
}

inline ivec as_integers(vec v) {
    ivec i;
    std::memcpy(&i, &v, sizeof i);
    return i;
}

inline vec as_floats(ivec i) {
    vec v;
    std::memcpy(&v, &i, sizeof v);
    return v;
}

/// Sum of the lanes, always in the same order.
inline float sum_lanes(vec v) {
    float lanes[vec_width];
    store(lanes, v);
    for (int half = vec_width / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

inline float max_lanes(vec v) {
    float lanes[vec_width];
    store(lanes, v);
    for (int i = 1; i < vec_width; ++i) lanes[0] = lanes[i] > lanes[0] ? lanes[i] : lanes[0];
    return lanes[0];
}

}  // namespace assay::trainer
