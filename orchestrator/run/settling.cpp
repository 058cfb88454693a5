#include "run/settling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace assay {
namespace {

double median_wall_ms(std::span<const step_sample> steps) {
    std::vector<double> times;
    times.reserve(steps.size());
    for (const step_sample& step : steps) times.push_back(step.wall_ms);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    if (times.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(times.begin(), middle)) / 2;
}

bool is_back(const std::optional<double>& at_start, const std::optional<double>& now, double allowance) {
    return !at_start || !now || *now <= *at_start + allowance;
}

}  // namespace

bool machine_is_settled(const environment_snapshot& at_start, const environment_snapshot& now, int logical_cores,
                        settling_tolerance tolerance) {
    if (now.thermal_state == "serious" || now.thermal_state == "critical") return false;
    return is_back(at_start.load_average_1m, now.load_average_1m, tolerance.load_per_core * logical_cores) &&
           is_back(at_start.temperature_celsius, now.temperature_celsius, tolerance.celsius);
}

std::string settling_text(const environment_snapshot& at_start, const environment_snapshot& now) {
    std::string text;
    char part[96];
    if (at_start.load_average_1m && now.load_average_1m) {
        std::snprintf(part, sizeof part, "load %.2f (%.2f at the start)", *now.load_average_1m,
                      *at_start.load_average_1m);
        text += part;
    }
    if (at_start.temperature_celsius && now.temperature_celsius) {
        std::snprintf(part, sizeof part, "%s%.1f C (%.1f C at the start)", text.empty() ? "" : ", ",
                      *now.temperature_celsius, *at_start.temperature_celsius);
        text += part;
    }
    if (now.thermal_state) text += (text.empty() ? "" : ", ") + std::string("thermal state ") + *now.thermal_state;
    return text.empty() ? "nothing of it can be read here" : text;
}

bool warmup_is_stable(std::span<const step_sample> warmup, int block, double tolerance) {
    const auto size = static_cast<std::size_t>(block);
    if (size == 0 || warmup.size() < 2 * size) return false;
    const double last = median_wall_ms(warmup.last(size));
    const double before = median_wall_ms(warmup.last(2 * size).first(size));
    return std::abs(last - before) <= tolerance * before;
}

}  // namespace assay
