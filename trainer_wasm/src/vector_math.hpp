// Transcendental functions as polynomials, with their errors (checked in tests/unit/trainer/vector_math.test.cpp).
#pragma once

#include "simd.hpp"

namespace assay::trainer {

/// e^x. Relative error below 2.5e-7 on [-87, 88]; arguments outside are clamped to that interval, so the result is
/// never infinite or a denormal.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite's two-part ln 2), e^r by its Taylor polynomial of degree 7
/// (truncation below 6e-9 relative), and 2^n by writing the exponent field.
inline vec exp(vec x) {
    x = max(min(x, splat(88.0f)), splat(-87.0f));
    // Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low bits of the mantissa.
    const vec rounder = splat(12582912.0f);
    const vec shifted = madd(x, splat(1.44269504088896341f), rounder);
    const vec n = shifted - rounder;
    vec r = madd(n, splat(-0.693359375f), x);
    r = madd(n, splat(2.12194440e-4f), r);
    vec p = splat(1.98412698e-4f);
    p = madd(p, r, splat(1.38888889e-3f));
    p = madd(p, r, splat(8.33333333e-3f));
    p = madd(p, r, splat(4.16666667e-2f));
    p = madd(p, r, splat(1.66666667e-1f));
    p = madd(p, r, splat(0.5f));
    p = madd(p, r * r, r);
    p = p + splat(1.0f);
    const ivec exponent = (as_integers(shifted) - as_integers(rounder)) << 23;
    return as_floats(as_integers(p) + exponent);
}

/// 1 / (1 + e^-x); relative error below 4e-7 for x >= -80.
inline vec sigmoid(vec x) {
    return splat(1.0f) / (splat(1.0f) + exp(splat(0.0f) - x));
}

/// sqrt(2 / pi) and the cubic's factor of GELU's tanh form (Hendrycks and Gimpel, 2016).
inline constexpr float gelu_scale = 0.7978845608028654f;
inline constexpr float gelu_cubic = 0.044715f;

/// x * (1 + tanh u) / 2 with u = gelu_scale (x + gelu_cubic x^3), written as x * sigmoid(2u): no tanh of a large
/// argument is ever taken. Absolute error below 5e-7 * max(1, |x|).
inline vec gelu(vec x) {
    const vec u2 = splat(2 * gelu_scale) * x * madd(splat(gelu_cubic) * x, x, splat(1.0f));
    return x * sigmoid(u2);
}

/// The derivative of gelu: s + x s (1 - s) 2u'.
inline vec gelu_derivative(vec x) {
    const vec square = x * x;
    const vec u2 = splat(2 * gelu_scale) * x * madd(splat(gelu_cubic), square, splat(1.0f));
    const vec slope = splat(2 * gelu_scale) * madd(splat(3 * gelu_cubic), square, splat(1.0f));
    const vec s = sigmoid(u2);
    return madd(x * s * (splat(1.0f) - s), slope, s);
}

}  // namespace assay::trainer
