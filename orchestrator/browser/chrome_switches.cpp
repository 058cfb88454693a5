#include "browser/chrome_switches.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace assay {

namespace {

using enum switch_when;

constexpr std::array table = std::to_array<chrome_switch>({
    {"--headless=new", chromium_only, "no window, and the same code as the browser that people use"},
    {"--headless", headless_shell_only, "the shell knows no other mode"},
    {"--remote-debugging-pipe", always, "DevTools over descriptors 3 and 4: no port that a neighbour could take"},
    {"--no-startup-window", chromium_only, "no page but ours is ever opened"},
    {"--no-first-run", always, "a fresh profile must not open the welcome page"},
    {"--no-default-browser-check", always, "no prompt and no disk scan"},
    {"--no-sandbox", root_only, "Chrome's sandbox refuses to start for root"},
    {"--disable-dev-shm-usage", small_shm, "/dev/shm of a container is too small: shared memory goes to the profile"},
    {"--disable-breakpad", always, "no crash reporter that outlives the browser"},
    {"--disable-crash-reporter", always, "the same for the shell"},
    {"--disable-quic", always, "no UDP traffic from a measuring machine"},
    {"--disable-background-networking", always, "no update, safe-browsing or metrics traffic during a measurement"},
    {"--disable-component-update", always, "no download that competes with the page"},
    {"--disable-sync", always, "no account traffic"},
    {"--disable-default-apps", always, "nothing is installed into a fresh profile"},
    {"--disable-extensions", always, "no foreign code in the page"},
    {"--disable-domain-reliability", always, "no reporting traffic"},
    {"--disable-client-side-phishing-detection", always, "no model is loaded beside ours"},
    {"--metrics-recording-only", always, "metrics are kept, never sent"},
    {"--no-pings", always, "no hyperlink auditing"},
    {"--disable-background-timer-throttling", always, "a page without focus keeps its timers"},
    {"--disable-backgrounding-occluded-windows", always, "a covered window is not treated as hidden"},
    {"--disable-renderer-backgrounding", always, "the renderer keeps its priority"},
    {"--disable-hang-monitor", always, "a step of many seconds is no hang: our own deadlines decide"},
    {"--disable-ipc-flooding-protection", always, "many step events in a row are not delayed"},
    {"--disable-popup-blocking", always, "no dialog about a blocked window"},
    {"--disable-prompt-on-repost", always, "no dialog about a repeated form"},
    {"--disable-search-engine-choice-screen", always, "no dialog on first start"},
    {"--disable-field-trial-config", always, "no experiment arms: two runs get the same browser"},
    {"--password-store=basic", always, "no wait for a desktop keyring"},
    {"--use-mock-keychain", mac_only, "no prompt for the macOS keychain"},
    {"--mute-audio", always, "no audio service is needed"},
    {"--hide-scrollbars", always, "nothing animates"},
    {"--force-color-profile=srgb", always, "the display has no say"},
    {"--window-size=800,600", always, "the same page size everywhere"},
    {"--enable-unsafe-webgpu", always, "WebGPU where the platform's list does not enable it yet; the gate judges the adapter"},
    {"--enable-logging=stderr", always, "the last lines of a browser that fails are part of the failure"},
    {"--log-level=1", always, "warnings and errors, not notices"},
    {"--ignore-gpu-blocklist", linux_gpu, "a server's driver is on no list of desktop drivers"},
    {"--enable-features=Vulkan", linux_gpu, "Dawn and ANGLE both reach the GPU through Vulkan"},
    {"--use-angle=vulkan", linux_gpu, "another ANGLE backend hands out SwiftShader without an error"},
    {"--disable-vulkan-surface", linux_gpu, "there is no display to present to"},
    {"--use-angle=metal", mac_only, "the GL view then names the same Metal device as WebGPU"},
});

std::string_view name_of(std::string_view text) { return text.substr(0, text.find('=')); }

bool applies(switch_when when, const switch_conditions& conditions) {
    switch (when) {
        case always: return true;
        case linux_only: return !conditions.mac;
        case mac_only: return conditions.mac;
        case chromium_only: return conditions.flavour == browser_flavour::chromium;
        case headless_shell_only: return conditions.flavour == browser_flavour::headless_shell;
        case linux_gpu: return !conditions.mac && conditions.linux_gpu_driver;
        case root_only: return !conditions.mac && conditions.root;
        case small_shm: return !conditions.mac && conditions.small_shared_memory;
    }
    return false;
}

}  // namespace

std::span<const chrome_switch> chrome_switch_table() { return table; }

bool has_linux_gpu_driver(const std::filesystem::path& root, std::string_view vulkan_driver_files) {
    // A driver named by the environment is taken at its word unless it is one that computes on the CPU.
    const auto is_software = [](std::string_view name) {
        return name.find("lvp") != name.npos || name.find("swiftshader") != name.npos || name.find("mock") != name.npos;
    };
    if (!vulkan_driver_files.empty()) return !is_software(vulkan_driver_files);
    std::error_code failure;
    if (std::filesystem::exists(root / "dev/nvidiactl", failure) || std::filesystem::exists(root / "dev/nvidia0", failure))
        return true;
    if (!std::filesystem::exists(root / "dev/dri", failure)) return false;
    bool render_node = false;
    for (std::filesystem::directory_iterator entry(root / "dev/dri", failure), end; !failure && entry != end;
         entry.increment(failure))
        render_node |= entry->path().filename().string().starts_with("renderD");
    if (!render_node) return false;
    for (const char* folder : {"usr/share/vulkan/icd.d", "etc/vulkan/icd.d", "usr/local/share/vulkan/icd.d"})
        for (std::filesystem::directory_iterator entry(root / folder, failure), end; !failure && entry != end;
             entry.increment(failure))
            if (!is_software(entry->path().filename().string())) return true;
    return false;
}

switch_conditions detect_conditions(browser_flavour flavour, gpu_mode gpu) {
    switch_conditions conditions;
    conditions.flavour = flavour;
#ifdef __APPLE__
    conditions.mac = true;
#endif
    conditions.root = ::geteuid() == 0;
    struct statvfs shared_memory {};
    constexpr std::uint64_t enough_bytes = std::uint64_t{512} << 20;
    conditions.small_shared_memory =
        !conditions.mac && (::statvfs("/dev/shm", &shared_memory) != 0 ||
                            std::uint64_t{shared_memory.f_bavail} * shared_memory.f_frsize < enough_bytes);
    const char* driver_files = std::getenv("VK_DRIVER_FILES");
    if (driver_files == nullptr) driver_files = std::getenv("VK_ICD_FILENAMES");
    conditions.linux_gpu_driver =
        gpu == gpu_mode::hardware ||
        (gpu == gpu_mode::automatic && has_linux_gpu_driver("/", driver_files != nullptr ? driver_files : ""));
    return conditions;
}

std::vector<std::string> chrome_switches(const switch_conditions& conditions, const std::vector<std::string>& extra) {
    std::vector<std::string> switches;
    for (const auto& row : table)
        if (applies(row.when, conditions)) switches.emplace_back(row.text);
    for (const auto& added : extra) {
        const bool only_removes = added.starts_with('!');
        const std::string_view text = std::string_view(added).substr(only_removes ? 1 : 0);
        std::erase_if(switches, [&](const std::string& old) { return name_of(old) == name_of(text); });
        if (!only_removes) switches.emplace_back(text);
    }
    return switches;
}

browser_flavour flavour_of(const std::filesystem::path& binary) {
    const std::string name = binary.filename().string();
    return name.find("headless-shell") != std::string::npos || name.find("headless_shell") != std::string::npos
               ? browser_flavour::headless_shell
               : browser_flavour::chromium;
}

}  // namespace assay
