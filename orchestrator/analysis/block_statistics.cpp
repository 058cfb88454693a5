#include "analysis/block_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/sample_statistics.hpp"

namespace assay {
namespace {

std::vector<double> logarithms(std::span<const double> times) {
    std::vector<double> out;
    out.reserve(times.size());
    for (double time : times) out.push_back(std::log(time));
    return out;
}

}  // namespace

std::optional<double> autocorrelation(std::span<const double> times) {
    if (times.size() < min_autocorrelation_steps) return std::nullopt;
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    if (*least == *most) return std::nullopt;
    const std::vector<double> values = logarithms(times);
    const auto centre = mean(values);
    if (!centre) return std::nullopt;
    double squares = 0;
    double products = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        squares += (values[i] - *centre) * (values[i] - *centre);
        if (i > 0) products += (values[i] - *centre) * (values[i - 1] - *centre);
    }
    if (!(squares > 0)) return std::nullopt;
    const double count = static_cast<double>(values.size());
    return std::clamp((products / squares * count + 1) / (count - 3), -0.99, 0.99);
}

double effective_count(std::size_t count, double autocorrelation) {
    const double total = static_cast<double>(count);
    return std::clamp(total * (1 - autocorrelation) / (1 + autocorrelation), std::min(1.0, total), total);
}

int count_outliers(std::span<const double> times) {
    const std::vector<double> values = logarithms(times);
    const auto centre = median(values);
    if (!centre) return 0;
    std::vector<double> deviations;
    for (double value : values) deviations.push_back(std::abs(value - *centre));
    // 1.4826 makes the median absolute deviation a standard deviation under normality. The floor of 0.1 % keeps a block
    // whose steps mostly read the same tick of the clock from flagging the next tick.
    const double scale = std::max(1.4826 * *median(deviations), 1e-3);
    return static_cast<int>(std::count_if(deviations.begin(), deviations.end(), [scale](double deviation) {
        return deviation > outlier_deviations * scale;
    }));
}

}  // namespace assay
