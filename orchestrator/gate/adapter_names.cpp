#include "gate/adapter_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace assay {
namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// True where `word` stands in `text` by itself: "warp" in "d3d12 warp", not in "warped".
bool holds_word(std::string_view text, std::string_view word) {
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const bool starts = at == 0 || !is_word_character(text[at - 1]);
        const auto end = at + word.size();
        if (starts && (end == text.size() || !is_word_character(text[end]))) return true;
    }
    return false;
}

// Long names are looked for anywhere, since drivers glue them to others; short ones only as words.
constexpr auto software_names = std::to_array<std::string_view>(
    {"swiftshader", "swangle", "subzero", "llvmpipe", "lavapipe", "softpipe", "openswr", "basic render", "software rasterizer",
     "software renderer", "software rendering", "software adapter", "softwarerenderer", "mesa offscreen", "gdi generic",
     "null device", "mock icd", "vkmock", "pocl"});
constexpr auto software_words = std::to_array<std::string_view>({"warp", "swr", "swrast", "kms_swrast", "cpu"});
constexpr auto virtual_names = std::to_array<std::string_view>(
    {"paravirtual", "virtio", "virgl", "vmware", "svga3d", "virtualbox", "vboxvga", "vboxsvga", "hyper-v", "hyperv", "parallels",
     "bochs", "cirrus", "remote display", "remotefx", "indirect display", "citrix", "qemu", "gfxstream", "mock device"});
constexpr auto virtual_words = std::to_array<std::string_view>({"qxl", "venus", "xen", "xengt", "bhyve", "utm"});

template <std::size_t Names, std::size_t Words>
std::optional<std::string_view> find_name(std::string_view text, const std::array<std::string_view, Names>& names,
                                          const std::array<std::string_view, Words>& words) {
    const std::string low = lower(text);
    for (const auto name : names)
        if (low.find(name) != low.npos) return name;
    for (const auto word : words)
        if (holds_word(low, word)) return word;
    return std::nullopt;
}

constexpr auto vendor_ids = std::to_array<std::pair<std::uint32_t, std::string_view>>({
    {0x106b, "apple"},     {0x10de, "nvidia"},   {0x1002, "amd"},      {0x1022, "amd"},       {0x8086, "intel"},
    {0x5143, "qualcomm"},  {0x17cb, "qualcomm"}, {0x13b5, "arm"},      {0x1010, "imagination"},
    {0x1ae0, "google"},    {0x1414, "microsoft"}, {0x10005, "mesa"},    {0x15ad, "vmware"},    {0x80ee, "virtualbox"},
    {0x1af4, "virtio"},    {0x1b36, "qxl"},      {0x1234, "bochs"},    {0x1013, "cirrus"},    {0x1ab8, "parallels"},
    {0x5853, "xen"},       {0x1d0f, "amazon"},
});

// What drivers and ANGLE write for the same makers.
constexpr auto vendor_words = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"apple", "apple"},       {"nvidia", "nvidia"},      {"geforce", "nvidia"}, {"quadro", "nvidia"}, {"tesla", "nvidia"},
    {"amd", "amd"},           {"ati", "amd"},            {"radeon", "amd"},     {"radv", "amd"},      {"advanced micro devices", "amd"},
    {"intel", "intel"},       {"qualcomm", "qualcomm"},  {"adreno", "qualcomm"}, {"arm", "arm"},      {"mali", "arm"},
    {"imagination", "imagination"}, {"powervr", "imagination"},
});

}  // namespace

std::vector<named_text> adapter_texts(const adapter_views& views) {
    std::vector<named_text> texts;
    if (views.page) {
        texts.push_back({"page.vendor", views.page->vendor});
        texts.push_back({"page.architecture", views.page->architecture});
        texts.push_back({"page.device", views.page->device});
        texts.push_back({"page.description", views.page->description});
    }
    if (views.devtools) {
        for (std::size_t index = 0; index < views.devtools->devices.size(); ++index) {
            const auto& device = views.devtools->devices[index];
            const std::string at = "devtools.devices[" + std::to_string(index) + "].";
            texts.push_back({at + "vendor", device.vendor});
            texts.push_back({at + "device", device.device});
            texts.push_back({at + "driver_vendor", device.driver_vendor});
            texts.push_back({at + "driver_version", device.driver_version});
        }
        for (const char* name : {"glRenderer", "glVendor", "glVersion", "glImplementationParts", "displayType"}) {
            const auto found = views.devtools->aux_attributes.find(name);
            if (found != views.devtools->aux_attributes.end())
                texts.push_back({"devtools.aux_attributes." + found->first, found->second});
        }
        texts.push_back({"devtools.model_name", views.devtools->model_name});
    }
    std::erase_if(texts, [](const named_text& entry) { return entry.text.empty(); });
    return texts;
}

std::optional<std::string_view> software_renderer_in(std::string_view text) {
    return find_name(text, software_names, software_words);
}

std::optional<std::string_view> virtual_device_in(std::string_view text) {
    return find_name(text, virtual_names, virtual_words);
}

std::optional<std::string_view> vendor_of_pci_id(std::uint32_t id) {
    for (const auto& [known, vendor] : vendor_ids)
        if (known == id) return vendor;
    return std::nullopt;
}

bool is_software_pci_id(std::uint32_t id) { return id == 0x1ae0 || id == 0x1414 || id == 0x10005; }

bool is_virtual_pci_id(std::uint32_t id) {
    constexpr std::array<std::uint32_t, 9> ids{0x15ad, 0x80ee, 0x1af4, 0x1b36, 0x1234, 0x1013, 0x1ab8, 0x5853, 0x1d0f};
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::optional<std::string_view> vendor_in_text(std::string_view text) {
    const std::string low = lower(text);
    for (const auto& [word, vendor] : vendor_words)
        if (holds_word(low, word)) return vendor;
    return std::nullopt;
}

}  // namespace assay
