// Two independent views of the GPU: the page's GPUAdapterInfo and DevTools SystemInfo.getInfo.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// GPUAdapterInfo and what goes with it, as the page saw it.
struct page_adapter {
    std::string vendor;
    std::string architecture;
    std::string device;
    std::string description;
    std::optional<bool> is_fallback;  ///< absent where the engine does not say: that is not false
    std::optional<int> subgroup_min_size;
    std::optional<int> subgroup_max_size;
    std::vector<std::string> features;
    std::map<std::string, double> limits;
    bool operator==(const page_adapter&) const = default;
};

/// One GPU device of SystemInfo.getInfo.
struct devtools_gpu_device {
    std::uint32_t vendor_id = 0;
    std::uint32_t device_id = 0;
    std::string vendor;
    std::string device;
    std::string driver_vendor;
    std::string driver_version;
    bool operator==(const devtools_gpu_device&) const = default;
};

/// The browser's own view, from SystemInfo.getInfo.
struct devtools_adapter {
    std::vector<devtools_gpu_device> devices;
    std::map<std::string, std::string> feature_status;  ///< "webgpu": "enabled" and so on
    std::map<std::string, std::string> aux_attributes;  ///< "glRenderer", "glImplementationParts", ... as text
    std::vector<std::string> driver_bug_workarounds;
    std::string model_name;     ///< the machine's, macOS only
    std::string model_version;
    bool operator==(const devtools_adapter&) const = default;
};

/// Both views at one moment; a view that could not be had is absent.
struct adapter_views {
    std::optional<page_adapter> page;
    std::optional<devtools_adapter> devtools;
    std::optional<double> probe_gflops;  ///< rate of the known-cost probe, a small f32 matrix product on the GPU
    bool operator==(const adapter_views&) const = default;
};

}  // namespace assay
