#include "analysis/sample_statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

namespace assay {
namespace {

bool all_finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

std::optional<double> median(std::span<const double> values) {
    if (values.empty() || !all_finite(values)) return std::nullopt;
    std::vector<double> sorted(values.begin(), values.end());
    const std::size_t middle = sorted.size() / 2;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(middle), sorted.end());
    const double upper = sorted[middle];
    if (sorted.size() % 2 == 1) return upper;
    const double lower = *std::max_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(middle));
    return lower + (upper - lower) / 2;
}

std::optional<double> mean(std::span<const double> values) {
    if (values.empty() || !all_finite(values)) return std::nullopt;
    double sum = 0;
    for (double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

std::optional<double> standard_deviation(std::span<const double> values) {
    if (values.size() < 2) return std::nullopt;
    const auto centre = mean(values);
    if (!centre) return std::nullopt;
    // Equal values have no spread, whatever rounding their mean has seen.
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (*least == *most) return 0;
    double squares = 0;
    for (double value : values) squares += (value - *centre) * (value - *centre);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double student_t_two_sided(double confidence, double degrees_of_freedom) {
    const boost::math::students_t distribution(degrees_of_freedom);
    return boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
}

std::optional<std::pair<double, double>> mean_interval(std::span<const double> values, double confidence) {
    const auto centre = mean(values);
    const auto deviation = standard_deviation(values);
    if (!centre || !deviation) return std::nullopt;
    const double count = static_cast<double>(values.size());
    const double half = student_t_two_sided(confidence, count - 1) * *deviation / std::sqrt(count);
    return std::pair{*centre - half, *centre + half};
}

std::optional<double> welch_half_width(std::span<const double> x, std::span<const double> y, double confidence) {
    const auto deviation_x = standard_deviation(x);
    const auto deviation_y = standard_deviation(y);
    if (!deviation_x || !deviation_y) return std::nullopt;
    const double count_x = static_cast<double>(x.size());
    const double count_y = static_cast<double>(y.size());
    const double part_x = *deviation_x * *deviation_x / count_x;
    const double part_y = *deviation_y * *deviation_y / count_y;
    const double variance = part_x + part_y;
    if (variance == 0) return 0;
    const double freedom = variance * variance / (part_x * part_x / (count_x - 1) + part_y * part_y / (count_y - 1));
    return student_t_two_sided(confidence, freedom) * std::sqrt(variance);
}

}  // namespace assay
