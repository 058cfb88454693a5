#include "serve_settings.hpp"

#include <cstdlib>

#include "receipt/atomic_file.hpp"

namespace assay {
namespace {

constexpr std::size_t max_config_bytes = 1 << 20;

const char* variable(const char* name) {
    return std::getenv(name);
}

}  // namespace

result<server_config> read_server_settings(const serve_options& options) {
    server_config config;
    if (options.config) {
        const auto text = read_whole_file(*options.config, max_config_bytes);
        if (!text) return text.error();
        auto parsed = parse_server_config(*text);
        if (!parsed) {
            error cause = parsed.error();
            cause.message = *options.config + ": " + cause.message;
            return cause;
        }
        config = std::move(*parsed);
    }
    if (auto applied = apply_environment(config, variable); !applied) return applied.error();
    if (options.listen) config.listen = options.listen;
    if (options.store) config.store = options.store;
    if (options.tls_certificate) config.tls_certificate = options.tls_certificate;
    if (options.tls_key) config.tls_key = options.tls_key;
    if (!options.allowed_hosts.empty()) config.allowed_hosts = options.allowed_hosts;
    if (!options.labels.empty()) config.labels = options.labels;
    if (options.agents_only) config.agents_only = true;
    if (config.tls_certificate.has_value() != config.tls_key.has_value())
        return error{error_code::invalid_argument, "TLS needs both a certificate and its key",
                     config.tls_certificate ? "--tls-key" : "--tls-certificate"};
    return config;
}

shared_options with_log_settings(shared_options options, const server_config& config) {
    if (!options.log_level) options.log_level = config.log_level;
    if (!options.log_format) options.log_format = config.log_format;
    return options;
}

}  // namespace assay
