// The browser's own answers as facts: SystemInfo and Browser.getVersion.
#pragma once

#include <sys/types.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "contract/adapter.hpp"
#include "contract/receipt.hpp"
#include "core/result.hpp"

namespace assay {

/// Reads the reply to SystemInfo.getInfo; a reply without a "gpu" object is a protocol_error.
result<devtools_adapter> read_system_info(const nlohmann::json& reply);

/// Fills product, user agent and script engine from the reply to Browser.getVersion.
void read_browser_version_reply(const nlohmann::json& reply, browser_facts& facts);

/// The GPU process's id from the reply to SystemInfo.getProcessInfo; absent when the browser has none.
std::optional<pid_t> gpu_process_of(const nlohmann::json& reply);

}  // namespace assay
