// What the names and numbers of a GPU say about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/adapter.hpp"

namespace assay {

/// One place in the two views where a name stands: "page.vendor", "devtools.devices[0].device", ...
struct named_text {
    std::string where;
    std::string text;
};

/// Every text of both views that names a renderer or a device.
std::vector<named_text> adapter_texts(const adapter_views& views);

/// The name of a software renderer found in a text ("swiftshader", "llvmpipe", ...), in any case of letters.
std::optional<std::string_view> software_renderer_in(std::string_view text);
/// The name of a paravirtual, emulated or remote device found in a text.
std::optional<std::string_view> virtual_device_in(std::string_view text);

/// "apple", "nvidia", "amd", "intel", "qualcomm", "arm", "imagination", "google" (its software renderer), "microsoft" (its
/// software renderer), or a maker of virtual devices; absent for an id that is none of them.
std::optional<std::string_view> vendor_of_pci_id(std::uint32_t id);
/// The same for an id that stands for software ("google", "microsoft").
bool is_software_pci_id(std::uint32_t id);
/// VMware, VirtualBox, virtio, QXL, Bochs, Cirrus, Parallels, Xen, Amazon.
bool is_virtual_pci_id(std::uint32_t id);
/// The hardware vendor that a text names, by the same words.
std::optional<std::string_view> vendor_in_text(std::string_view text);

}  // namespace assay
