#include "core/http_message.hpp"

namespace assay {
namespace {

const std::string* find_value(const std::vector<std::pair<std::string, std::string>>& pairs, std::string_view name) {
    for (const auto& [key, value] : pairs)
        if (key == name) return &value;
    return nullptr;
}

}  // namespace

std::string_view scope_name(token_scope scope) {
    switch (scope) {
        case token_scope::none:
            return "none";
        case token_scope::read:
            return "read";
        case token_scope::trigger:
            return "trigger";
        case token_scope::agent:
            return "agent";
        case token_scope::admin:
            return "admin";
    }
    return "none";
}

std::optional<token_scope> scope_of_name(std::string_view name) {
    for (const auto scope : {token_scope::read, token_scope::trigger, token_scope::agent, token_scope::admin})
        if (scope_name(scope) == name) return scope;
    return std::nullopt;
}

std::optional<std::string_view> http_request::header(std::string_view name) const {
    const auto* value = find_value(headers, name);
    return value ? std::optional<std::string_view>(*value) : std::nullopt;
}

std::optional<std::string_view> http_request::query_value(std::string_view name) const {
    const auto* value = find_value(query, name);
    return value ? std::optional<std::string_view>(*value) : std::nullopt;
}

std::string_view http_request::capture(std::string_view name) const {
    const auto* value = find_value(captures, name);
    return value ? std::string_view(*value) : std::string_view();
}

}  // namespace assay
