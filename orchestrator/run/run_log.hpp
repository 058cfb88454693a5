// Log lines that are about one run.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

namespace assay {

/// The name of the service's logger: lines under another name are about the run of that id.
inline constexpr const char* service_log_name = "assay";

/// Writes where the service's log goes. The run's id travels beside the message, as the logger's name, so that every
/// format can show it in its own way. Cheap enough for lines that are written a few times a run.
std::shared_ptr<spdlog::logger> log_of_run(std::string run);

}  // namespace assay
