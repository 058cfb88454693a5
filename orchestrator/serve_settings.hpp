// What `assay serve` was told, from its three sources.
#pragma once

#include "command_options.hpp"
#include "contract/server_config.hpp"

namespace assay {

/// The configuration file, then ASSAY_* over it, then the flags over both. Errors name the file and the field, or the
/// variable, or the flag.
result<server_config> read_server_settings(const serve_options& options);

/// The options with the log settings of `config`, where no flag says otherwise.
shared_options with_log_settings(shared_options options, const server_config& config);

}  // namespace assay
