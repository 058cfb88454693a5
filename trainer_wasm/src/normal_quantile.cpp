#include "normal_quantile.hpp"

#include <cstring>

namespace assay::trainer {

double exactly_rounded_log(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    int exponent = static_cast<int>(bits >> 52) - 1023;
    bits = (bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
    double m;
    std::memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m = m * 0.5;
        exponent += 1;
    }
    const double s = (m - 1.0) / (m + 1.0);
    const double square = s * s;
    double series = 0.0;
    for (int k = 23; k >= 1; k -= 2) series = series * square + 1.0 / k;
    return exponent * 0.6931471805599453 + 2.0 * s * series;
}

namespace {

/// Horner's rule, highest coefficient last.
template <int Count>
double polynomial(const double (&coefficients)[Count], double x) {
    double value = coefficients[Count - 1];
    for (int i = Count - 2; i >= 0; --i) value = value * x + coefficients[i];
    return value;
}

// The coefficients of AS 241: numerator and denominator for the middle, the near tail and the far tail.
constexpr double middle_over[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                  1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                  3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr double middle_under[] = {1.0,
                                   4.2313330701600911252e+1,
                                   6.8718700749205790830e+2,
                                   5.3941960214247511077e+3,
                                   2.1213794301586595867e+4,
                                   3.9307895800092710610e+4,
                                   2.8729085735721942674e+4,
                                   5.2264952788528545610e+3};
constexpr double near_over[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double near_under[] = {1.0,
                                 2.05319162663775882187e0,
                                 1.67638483018380384940e0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9};
constexpr double far_over[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                               2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double far_under[] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double p) {
    const double q = p - 0.5;
    if (std::fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(middle_over, r) / polynomial(middle_under, r);
    }
    const double tail = q < 0.0 ? p : 1.0 - p;
    double r = std::sqrt(-exactly_rounded_log(tail));
    double z;
    if (r <= 5.0) {
        r = r - 1.6;
        z = polynomial(near_over, r) / polynomial(near_under, r);
    } else {
        r = r - 5.0;
        z = polynomial(far_over, r) / polynomial(far_under, r);
    }
    return q < 0.0 ? -z : z;
}

}  // namespace assay::trainer
