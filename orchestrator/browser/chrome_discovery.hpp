// Which browsers this machine has.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "browser/chrome_switches.hpp"
#include "browser/system_commands.hpp"
#include "core/result.hpp"

namespace assay {

/// One place where a browser may be.
struct browser_candidate {
    std::string channel;  ///< "stable", "beta", "dev", "canary", "chromium", "headless-shell", or the variable's name
    std::filesystem::path path;
};

/// A browser that is there.
struct found_browser {
    std::string channel;
    std::filesystem::path path;
    browser_flavour flavour = browser_flavour::chromium;
    std::optional<std::string> version;  ///< what --version printed; absent when it printed nothing usable
};

enum class host_system { linux_os, mac_os };
host_system this_system();

using environment_lookup = std::function<std::optional<std::string>(const std::string& name)>;
using file_check = std::function<bool(const std::filesystem::path& path)>;

/// Reads the process's own environment.
std::optional<std::string> process_environment(const std::string& name);
/// True for a file that this user may execute.
bool is_executable_file(const std::filesystem::path& path);

/// Every place to look, best first: ASSAY_BROWSER, CHROME, then the system's usual places for each channel.
std::vector<browser_candidate> browser_candidates(host_system system, const environment_lookup& environment);

/// The browsers that are there, each once, best first, with no version read.
std::vector<found_browser> find_browsers(host_system system, const environment_lookup& environment,
                                         const file_check& exists);

/// The browser to use: the one asked for, or the best found. browser_not_found says what was looked at and what to install.
result<found_browser> choose_browser(const std::optional<std::string>& asked, host_system system,
                                     const environment_lookup& environment, const file_check& exists);

/// Runs `PATH --version` ("Chromium 156.0.8078.114 built on ...") and keeps the product and the number.
std::optional<std::string> read_browser_version(const std::filesystem::path& path, system_commands& commands);

}  // namespace assay
