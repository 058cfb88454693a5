// The server's configuration file: protocols/schemas/server-config.schema.json.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"
#include "core/result.hpp"

namespace assay {

/// Who may ask for what. Only the token's SHA-256 is kept.
struct configured_token {
    std::string name;
    std::string sha256;
    std::vector<token_scope> scopes;
};

/// Called when a run has ended.
struct configured_webhook {
    std::string url;
    std::string secret;                 ///< signs the body; never logged
    std::vector<std::string> verdicts;  ///< only for these; empty: for all
};

/// A command run when a run has ended: the program and its arguments, no shell.
struct configured_hook {
    std::vector<std::string> command;
    int timeout_seconds = 60;
};

struct server_config {
    std::optional<std::string> listen;  ///< "HOST:PORT"
    std::optional<std::string> store;   ///< "sqlite://PATH" or "postgresql://..."
    std::vector<std::string> allowed_hosts;
    std::vector<configured_token> tokens;
    bool anonymous_read = false;                          ///< with tokens: reading needs none
    std::optional<std::string> tls_certificate, tls_key;  ///< PEM files
    double requests_per_second = 1000;                    ///< for each caller
    double request_burst = 2000;
    int max_connections = 12000;
    int max_header_bytes = 16 * 1024, max_body_bytes = 1024 * 1024;
    bool agents_only = false;       ///< this machine measures nothing itself
    bool approve_machines = false;  ///< a new machine waits until an administrator makes it active
    std::vector<configured_webhook> webhooks;
    std::vector<configured_hook> hooks;
    std::optional<int> keep_receipts_days, keep_runs_days;
    std::optional<std::string> log_level, log_format;
    std::vector<std::string> labels;  ///< this machine's
};

/// Reads the file's text. Unknown keys and wrong types are errors that point at the field.
result<server_config> parse_server_config(std::string_view json_text);

/// Overwrites fields by environment variables: ASSAY_LISTEN, ASSAY_STORE, ASSAY_TLS_CERTIFICATE, ASSAY_TLS_KEY,
/// ASSAY_LOG_LEVEL, ASSAY_LOG_FORMAT, ASSAY_ALLOWED_HOSTS and ASSAY_LABELS (commas between both's names). An empty
/// variable counts as unset. Flags are stronger still and are the caller's.
result<void> apply_environment(server_config& config, const std::function<const char*(const char*)>& variable);

}  // namespace assay
