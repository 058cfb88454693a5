// A command run when a run has ended: a program and its arguments, no shell.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace assay::notify {

/// Runs `command` (found on PATH) with this process's environment and `variables` over it, standard input empty, its
/// output where ours goes, in a process group of its own; answers its exit status. Past `limit`, or when `stop` turns
/// true, the group is ended (TERM, a second later KILL): deadline_exceeded or cancelled. not_found when it cannot be
/// executed; a signal's end is 128 plus its number. Blocks.
result<int> run_command_hook(const std::vector<std::string>& command,
                             const std::vector<std::pair<std::string, std::string>>& variables,
                             std::chrono::milliseconds limit, const std::function<bool()>& stop);

}  // namespace assay::notify
