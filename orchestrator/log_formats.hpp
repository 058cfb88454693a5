// How log lines look: text for people, JSON objects for programs.
#pragma once

#include <memory>

namespace spdlog {
class formatter;
}

namespace assay {

/// One object a line: "time" (UTC), "level", "message" and, where the line is about one (see log_of_run), its "run".
std::unique_ptr<spdlog::formatter> make_json_log_formatter();

/// Local time, level, "run ID: " where the line is about one, message.
std::unique_ptr<spdlog::formatter> make_text_log_formatter();

}  // namespace assay
