// The normal distribution's quantile by exactly rounded operations alone (+ - * / and sqrt in double), so that every
// machine and build gets the same bits. Compile with contraction off: a fused multiply-add would round differently.
#pragma once

#include <cmath>
#include <cstdint>

namespace assay::trainer {

/// The natural logarithm of x in (0, 1): x = m 2^e with m in [sqrt(1/2), sqrt 2), log m = 2 artanh((m - 1) / (m + 1)).
/// Relative error below 1e-15. Not std::log, whose last bit depends on the C library.
double exactly_rounded_log(double x);

/// z with P(Z <= z) = p for a standard normal Z, 0 < p < 1: Wichura's algorithm AS 241 (PPND16), Applied Statistics 37
/// (1988), about 16 digits.
double normal_quantile(double p);

/// The uniform in (0, 1) at the middle of word's cell of 2^-32.
inline double uniform_from_word(std::uint32_t word) {
    return (word + 0.5) * 0x1p-32;
}

}  // namespace assay::trainer
