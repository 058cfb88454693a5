#include "contract/server_config.hpp"

#include <algorithm>
#include <span>

#include "contract/json_edge.hpp"

namespace assay {
namespace {

constexpr std::size_t min_secret_bytes = 16;
constexpr std::string_view log_levels[] = {"trace", "debug", "info", "warn", "error"};
constexpr std::string_view log_formats[] = {"text", "json"};
constexpr std::string_view verdicts[] = {"verified",     "unqualified", "refused",
                                         "inconclusive", "invalid",     "failed"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string listed(std::span<const std::string_view> names) {
    std::string text;
    for (const auto name : names) text.append(text.empty() ? "" : ", ").append(name);
    return text;
}

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
    const json_context verdicts_at(at, "verdicts");
    for (std::size_t i = 0; i < webhook.verdicts.size(); ++i)
        if (!is_one_of(verdicts, webhook.verdicts[i]))
            json_context(verdicts_at, i).fail("must be one of " + listed(verdicts));
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
        if (const json* limits = reader.find("limits")) {
            const json_context limits_at(at, "limits");
            object_reader fields(*limits, limits_at);
            fields.defaulted_integer("connections", config.max_connections, 1, 100'000);
            fields.defaulted_integer("header_bytes", config.max_header_bytes, 1024, 1 << 20);
            fields.defaulted_integer("body_bytes", config.max_body_bytes, 1024, 1 << 26);
            fields.finish();
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
            if (config.log_level && !is_one_of(log_levels, *config.log_level))
                json_context(log_at, "level").fail("must be one of " + listed(log_levels));
            if (config.log_format && !is_one_of(log_formats, *config.log_format))
                json_context(log_at, "format").fail("must be one of " + listed(log_formats));
        }
        reader.defaulted("labels", config.labels);
        reader.defaulted("agents_only", config.agents_only);
        reader.defaulted("approve_machines", config.approve_machines);
        reader.finish();
        return config;
    } catch (const json_failure& failure) {
        return failure.cause;
    }
}

result<void> apply_environment(server_config& config, const std::function<const char*(const char*)>& variable) {
    const auto value_of = [&](const char* name) -> std::optional<std::string> {
        const char* value = variable(name);
        return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
    };
    const auto take = [&](const char* name, std::optional<std::string>& field) {
        if (auto value = value_of(name)) field = std::move(value);
    };
    const auto take_list = [&](const char* name, std::vector<std::string>& field) {
        const auto value = value_of(name);
        if (!value) return;
        field.clear();
        std::string_view rest = *value;
        while (!rest.empty()) {
            const auto comma = rest.find(',');
            if (const auto item = rest.substr(0, comma); !item.empty()) field.emplace_back(item);
            rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        }
    };
    take("ASSAY_LISTEN", config.listen);
    take("ASSAY_STORE", config.store);
    take("ASSAY_TLS_CERTIFICATE", config.tls_certificate);
    take("ASSAY_TLS_KEY", config.tls_key);
    take("ASSAY_LOG_LEVEL", config.log_level);
    take("ASSAY_LOG_FORMAT", config.log_format);
    take_list("ASSAY_ALLOWED_HOSTS", config.allowed_hosts);
    take_list("ASSAY_LABELS", config.labels);
    if (config.log_level && !is_one_of(log_levels, *config.log_level))
        return error{error_code::invalid_argument, "'" + *config.log_level + "' must be one of " + listed(log_levels),
                     "ASSAY_LOG_LEVEL"};
    if (config.log_format && !is_one_of(log_formats, *config.log_format))
        return error{error_code::invalid_argument,
                     "'" + *config.log_format + "' must be one of " + listed(log_formats), "ASSAY_LOG_FORMAT"};
    return {};
}

}  // namespace assay
