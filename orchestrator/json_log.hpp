// Log lines as JSON objects.
#pragma once

#include <memory>

namespace spdlog {
class formatter;
}

namespace assay {

/// One object a line: "time" (UTC), "level", "message" and, where the message is about one ("run ID: ..."), its "run".
std::unique_ptr<spdlog::formatter> make_json_log_formatter();

}  // namespace assay
