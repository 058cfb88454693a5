// Every switch that Chrome is started with, each with its reason.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class browser_flavour {
    chromium,        ///< Chrome or Chromium: the whole browser, headless by switch
    headless_shell,  ///< chrome-headless-shell: the old headless mode as its own binary
};

/// Where the GPU's driver is expected.
enum class gpu_mode {
    automatic,  ///< hardware when a driver is found on this machine
    hardware,   ///< the platform's own driver
    none,       ///< no switch for a driver: Chrome falls back to software where it finds none
};

/// When a row of the table applies.
enum class switch_when { always, linux_only, mac_only, chromium_only, headless_shell_only, linux_gpu, root_only, small_shm };

/// One row of the table.
struct chrome_switch {
    std::string_view text;
    switch_when when;
    std::string_view reason;
};

/// The whole table in the order used.
std::span<const chrome_switch> chrome_switch_table();

/// What decides which rows apply.
struct switch_conditions {
    browser_flavour flavour = browser_flavour::chromium;
    bool mac = false;
    bool root = false;                 ///< running as root: the sandbox cannot start
    bool linux_gpu_driver = false;     ///< a Vulkan driver for real hardware was found, or was asked for
    bool small_shared_memory = false;  ///< /dev/shm is too small for a browser (containers: 64 MiB)
};

/// Looks at this machine: user, /dev/shm, Vulkan driver (VK_DRIVER_FILES, /dev/nvidia*, /dev/dri).
switch_conditions detect_conditions(browser_flavour flavour, gpu_mode gpu);
/// The same with another root folder and environment value, for tests.
bool has_linux_gpu_driver(const std::filesystem::path& root, std::string_view vulkan_driver_files);

/// The switches for these conditions. `extra` ones come last and replace any of the same name ("--name" of "--name=value");
/// an extra "!--name" only removes. The profile's switch is not among them.
std::vector<std::string> chrome_switches(const switch_conditions& conditions, const std::vector<std::string>& extra);

/// chromium unless the file's name says headless shell.
browser_flavour flavour_of(const std::filesystem::path& binary);

}  // namespace assay
