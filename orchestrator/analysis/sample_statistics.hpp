// Figures of one list of numbers. All pure; all leave their input as it is.
#pragma once

#include <optional>
#include <span>
#include <utility>

namespace assay {

/// The middle value, or the mean of the two middle ones for an even count. Absent for no values and where one is not
/// finite.
std::optional<double> median(std::span<const double> values);

/// The arithmetic mean; absent for no values and where one is not finite.
std::optional<double> mean(std::span<const double> values);

/// The sample standard deviation (n - 1); absent below two values: one value has no spread, which is not a spread of 0.
std::optional<double> standard_deviation(std::span<const double> values);

/// Student's t quantile: with probability `confidence` a t-distributed value of `degrees_of_freedom` lies within plus
/// or minus this. confidence in (0, 1), degrees_of_freedom > 0.
double student_t_two_sided(double confidence, double degrees_of_freedom);

/// The two-sided interval of a mean by Student's t; absent below two values.
std::optional<std::pair<double, double>> mean_interval(std::span<const double> values, double confidence);

/// Half the width of Welch's two-sided interval of the difference of two means; absent below two values on either side.
/// Degrees of freedom by Welch and Satterthwaite.
std::optional<double> welch_half_width(std::span<const double> x, std::span<const double> y, double confidence);

}  // namespace assay
