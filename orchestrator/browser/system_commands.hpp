// Commands of the operating system behind an interface, so that what they print can be a fixture.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Runs a command and returns its standard output; absent when it cannot be run, fails, or overruns its time.
class system_commands {
  public:
    virtual ~system_commands() = default;
    virtual std::optional<std::string> output_of(const std::vector<std::string>& arguments) = 0;
};

/// The machine's own commands, each ended after `limit`; at most 4 MiB of output is read.
std::unique_ptr<system_commands> make_system_commands(std::chrono::milliseconds limit = std::chrono::seconds(5));

}  // namespace assay
