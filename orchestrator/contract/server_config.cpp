#include "contract/server_config.hpp"

#include "contract/json_edge.hpp"

namespace assay {
namespace {

constexpr std::size_t min_secret_bytes = 16;

configured_token read_token(const json& value, const json_context& at) {
    object_reader reader(value, at);
    configured_token token;
    reader.required("name", token.name);
    if (token.name.empty()) json_context(at, "name").fail("must not be empty");
    token.sha256 = read_sha256(reader.get("sha256"), json_context(at, "sha256"));
    std::vector<std::string> scopes;
    reader.required("scopes", scopes);
    const json_context scopes_at(at, "scopes");
    for (std::size_t i = 0; i < scopes.size(); ++i) {
        const auto scope = scope_of_name(scopes[i]);
        if (!scope) json_context(scopes_at, i).fail("must be read, trigger, agent or admin");
        token.scopes.push_back(*scope);
    }
    reader.finish();
    return token;
}

configured_webhook read_webhook(const json& value, const json_context& at) {
    object_reader reader(value, at);
    configured_webhook webhook;
    reader.required("url", webhook.url);
    if (!webhook.url.starts_with("http://") && !webhook.url.starts_with("https://"))
        json_context(at, "url").fail("must begin with http:// or https://");
    reader.required("secret", webhook.secret);
    if (webhook.secret.size() < min_secret_bytes) json_context(at, "secret").fail("must have 16 characters or more");
    reader.defaulted("verdicts", webhook.verdicts);
    reader.finish();
    return webhook;
}

configured_hook read_hook(const json& value, const json_context& at) {
    object_reader reader(value, at);
    configured_hook hook;
    reader.required("command", hook.command);
    if (hook.command.empty() || hook.command.front().empty()) json_context(at, "command").fail("must name a program");
    reader.defaulted_integer("timeout_seconds", hook.timeout_seconds, 1, 3600);
    reader.finish();
    return hook;
}

template <class T>
void read_list(object_reader& reader, const json_context& at, std::string_view key, std::vector<T>& out,
               T (*read)(const json&, const json_context&)) {
    const json* list = reader.find(key);
    if (!list) return;
    const json_context list_at(at, key);
    if (!list->is_array()) list_at.fail("must be a list");
    for (std::size_t i = 0; i < list->size(); ++i) out.push_back(read((*list)[i], json_context(list_at, i)));
}

}  // namespace

result<server_config> parse_server_config(std::string_view json_text) {
    const json_rules rules;
    const json_context at(rules);
    try {
        const json document = parse_json(json_text, at);
        object_reader reader(document, at);
        server_config config;
        reader.optional("listen", config.listen);
        reader.optional("store", config.store);
        reader.defaulted("allowed_hosts", config.allowed_hosts);
        read_list(reader, at, "tokens", config.tokens, read_token);
        reader.defaulted("anonymous_read", config.anonymous_read);
        if (const json* tls = reader.find("tls")) {
            const json_context tls_at(at, "tls");
            object_reader files(*tls, tls_at);
            files.required("certificate", config.tls_certificate.emplace());
            files.required("key", config.tls_key.emplace());
            files.finish();
        }
        if (const json* rate = reader.find("rate_limit")) {
            const json_context rate_at(at, "rate_limit");
            object_reader fields(*rate, rate_at);
            fields.defaulted("requests_per_second", config.requests_per_second);
            fields.defaulted("burst", config.request_burst);
            fields.finish();
            if (!(config.requests_per_second > 0))
                json_context(rate_at, "requests_per_second").fail("must be over zero");
            if (!(config.request_burst >= 1)) json_context(rate_at, "burst").fail("must be one or more");
        }
        read_list(reader, at, "webhooks", config.webhooks, read_webhook);
        read_list(reader, at, "hooks", config.hooks, read_hook);
        if (const json* retention = reader.find("retention")) {
            const json_context retention_at(at, "retention");
            object_reader fields(*retention, retention_at);
            fields.optional_integer("receipts_days", config.keep_receipts_days, 1, 36500);
            fields.optional_integer("runs_days", config.keep_runs_days, 1, 36500);
            fields.finish();
        }
        if (const json* log = reader.find("log")) {
            const json_context log_at(at, "log");
            object_reader fields(*log, log_at);
            fields.optional("level", config.log_level);
            fields.optional("format", config.log_format);
            fields.finish();
        }
        reader.defaulted("labels", config.labels);
        reader.finish();
        return config;
    } catch (const json_failure& failure) {
        return failure.cause;
    }
}

void apply_environment(server_config& config, const std::function<const char*(const char*)>& variable) {
    const auto take = [&](const char* name, std::optional<std::string>& field) {
        if (const char* value = variable(name); value && *value) field = value;
    };
    take("ASSAY_LISTEN", config.listen);
    take("ASSAY_STORE", config.store);
    take("ASSAY_TLS_CERTIFICATE", config.tls_certificate);
    take("ASSAY_TLS_KEY", config.tls_key);
    take("ASSAY_LOG_LEVEL", config.log_level);
    take("ASSAY_LOG_FORMAT", config.log_format);
    std::optional<std::string> labels;
    take("ASSAY_LABELS", labels);
    if (!labels) return;
    config.labels.clear();
    std::string_view rest = *labels;
    while (!rest.empty()) {
        const auto comma = rest.find(',');
        if (const auto label = rest.substr(0, comma); !label.empty()) config.labels.emplace_back(label);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
}

}  // namespace assay
