#include "contract/model.hpp"

#include <array>
#include <string>

namespace assay {
namespace {

constexpr std::array<preset, 10> all_presets{{
    {"smoke", {1, 32, 16, 2, 2}},
    {"tiny", {2, 48, 32, 16, 3}},
    {"small", {3, 96, 64, 16, 3}},
    {"medium", {4, 128, 96, 16, 4}},
    {"large", {6, 192, 128, 12, 6}},
    {"xl", {8, 256, 128, 8, 8}},
    {"huge", {12, 256, 256, 8, 8}},
    {"massive", {14, 384, 256, 4, 12}},
    {"mega", {14, 384, 512, 2, 12}},
    {"behemoth", {24, 1280, 512, 1, 20}},
}};

result<void> check_range(int value, int low, int high, std::string_view name, std::string_view at) {
    if (value >= low && value <= high) return {};
    return error{error_code::invalid_argument,
                 std::string(name) + " is " + std::to_string(value) + "; it must lie between " + std::to_string(low) +
                     " and " + std::to_string(high),
                 std::string(at) + "/" + std::string(name)};
}

}  // namespace

std::span<const preset> presets() {
    return all_presets;
}

result<model_shape> find_preset(std::string_view name) {
    std::string known;
    for (const preset& candidate : all_presets) {
        if (candidate.name == name) return candidate.shape;
        if (!known.empty()) known += ", ";
        known += candidate.name;
    }
    return error{error_code::invalid_argument, "there is no preset \"" + std::string(name) + "\"; known are " + known,
                 "/preset"};
}

std::uint64_t parameter_count(const model_shape& shape) {
    const auto layers = static_cast<std::uint64_t>(shape.layers);
    const auto width = static_cast<std::uint64_t>(shape.d_model);
    const auto positions = static_cast<std::uint64_t>(shape.ctx);
    return (vocabulary_size + positions) * width + layers * (12 * width * width + 13 * width) + 2 * width;
}

double flops_per_step(const model_shape& shape) {
    const double layers = shape.layers;
    const double width = shape.d_model;
    const double tokens = static_cast<double>(shape.batch) * shape.ctx;
    return 6 * tokens * (12 * layers * width * width + vocabulary_size * width) +
           6 * layers * tokens * width * (shape.ctx + 1.0);
}

result<void> check_shape(const model_shape& shape, std::string_view at) {
    // The same bounds as arm-config.schema.json.
    if (auto ok = check_range(shape.layers, 1, 96, "layers", at); !ok) return ok;
    if (auto ok = check_range(shape.d_model, 8, 4096, "d_model", at); !ok) return ok;
    if (auto ok = check_range(shape.ctx, 2, 4096, "ctx", at); !ok) return ok;
    if (auto ok = check_range(shape.batch, 1, 1024, "batch", at); !ok) return ok;
    if (auto ok = check_range(shape.heads, 1, 64, "heads", at); !ok) return ok;
    if (shape.d_model % shape.heads != 0)
        return error{error_code::invalid_argument,
                     "d_model (" + std::to_string(shape.d_model) + ") must be a multiple of heads (" +
                         std::to_string(shape.heads) + ")",
                     std::string(at) + "/d_model"};
    return {};
}

}  // namespace assay
