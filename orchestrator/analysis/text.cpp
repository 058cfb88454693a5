#include "analysis/text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace assay {

std::string exact_text(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "not a number" : "infinite";
    std::array<char, 40> buffer{};
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), written.ptr};
}

std::string number_text(double value, int significant_digits) {
    if (!std::isfinite(value)) return exact_text(value);
    const double size = std::abs(value);
    if (size != 0 && (size < 1e-4 || size >= 1e9)) {
        std::array<char, 40> buffer{};
        const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                           std::chars_format::scientific, significant_digits - 1);
        return {buffer.data(), written.ptr};
    }
    int decimals = size == 0 ? 0 : significant_digits - 1 - static_cast<int>(std::floor(std::log10(size)));
    decimals = std::max(decimals, 0);
    std::array<char, 64> buffer{};
    const auto written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
    return {buffer.data(), written.ptr};
}

std::string percent_text(double fraction) {
    if (!std::isfinite(fraction)) return exact_text(fraction);
    return number_text(fraction * 100, std::abs(fraction) >= 1 ? 3 : 2) + " %";
}

std::string milliseconds_text(double milliseconds) {
    if (milliseconds >= 1000) return number_text(milliseconds / 1000, 3) + " s";
    if (milliseconds >= 1 || milliseconds == 0) return number_text(milliseconds, 3) + " ms";
    return number_text(milliseconds * 1000, 3) + " us";
}

std::string flops_text(double operations) {
    constexpr std::array<const char*, 5> units{"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"};
    std::size_t unit = 0;
    while (operations >= 1000 && unit + 1 < units.size()) {
        operations /= 1000;
        ++unit;
    }
    return number_text(operations, 3) + " " + units[unit];
}

}  // namespace assay
