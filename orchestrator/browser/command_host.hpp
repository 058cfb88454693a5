// An arm that is a command: the native build of the trainer, or an external program, over JSON lines.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "browser/arm_limits.hpp"
#include "run/ports.hpp"

namespace assay {

/// A command that speaks the arm contract: it says `ready`, reads its configuration (arm-config.schema.json) from standard
/// input to the end, then prepares, warms up and measures in one go, its events one a line on standard output.
struct command_host_options {
    std::string arm;
    std::vector<std::string> command;  ///< program and arguments; at least the program
    std::vector<std::pair<std::string, std::string>> environment;
    arm_limits limits;
};

std::unique_ptr<arm_host> make_command_host(command_host_options options);

/// The longest line taken from a command.
inline constexpr std::size_t max_event_line_bytes = std::size_t{16} << 20;

}  // namespace assay
