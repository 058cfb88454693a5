#include "contract/arm.hpp"

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::array<std::string_view, 9> fixed_names{"wasm-scalar",     "wasm-simd",      "wasm-simd-mt",
                                                      "wasm-relaxed-mt", "wasm64-simd-mt", "wasm64-relaxed-mt",
                                                      "webgpu",          "webgpu-f16",     "native"};
constexpr std::string_view external_prefix = "external:";
constexpr std::size_t max_external_name = 64;

bool is_external(std::string_view arm) {
    if (!arm.starts_with(external_prefix)) return false;
    const std::string_view name = arm.substr(external_prefix.size());
    return !name.empty() && name.size() <= max_external_name && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
}

}  // namespace

result<arm_kind> arm_kind_of(std::string_view arm) {
    if (std::find(fixed_names.begin(), fixed_names.end(), arm) != fixed_names.end()) {
        if (arm == "native") return arm_kind::native;
        return arm.starts_with("webgpu") ? arm_kind::webgpu : arm_kind::wasm;
    }
    if (is_external(arm)) return arm_kind::external;
    std::string known;
    for (std::string_view name : fixed_names) known += std::string(name) + ", ";
    return error{error_code::invalid_argument, "there is no arm \"" + std::string(arm) + "\"; known are " + known +
                                                   "external:NAME (letters, digits, '-' and '_')"};
}

bool arm_is_threaded(std::string_view arm) {
    return arm.ends_with("-mt") || arm == "native" || arm.starts_with(external_prefix);
}

}  // namespace assay
