// Makes the host that an arm needs: a browser for wasm-* and webgpu*, a command for native and external:NAME.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "browser/arm_limits.hpp"
#include "browser/chrome_discovery.hpp"
#include "browser/chrome_switches.hpp"
#include "run/ports.hpp"

namespace assay {

/// How arms are launched on this machine.
struct launcher_options {
    std::filesystem::path home;            ///< profiles are made below it
    std::optional<std::string> browser;    ///< --browser; absent: the best one found
    std::vector<std::string> extra_switches;  ///< --browser-switch, each "--name[=value]" or "!--name" to remove one
    std::vector<std::pair<std::string, std::string>> browser_environment;  ///< --browser-env NAME=VALUE
    std::optional<std::string> attach;     ///< --attach ws://...: a browser that runs already, instead of a launch
    gpu_mode gpu = gpu_mode::automatic;
    std::map<std::string, std::vector<std::string>> commands;  ///< "native" and the names of external arms
    arm_limits limits;
};

/// Reads "NAME=VALUE"; the error names --browser-env.
result<std::pair<std::string, std::string>> parse_environment_entry(const std::string& text);

/// `time` and `random` must outlive the launcher and its hosts.
std::unique_ptr<arm_launcher> make_arm_launcher(launcher_options options, const clock& time, random_source& random);

}  // namespace assay
