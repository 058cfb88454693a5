#include "http/router.hpp"

#include <algorithm>
#include <array>

namespace assay::http {
namespace {

using captures = std::vector<std::pair<std::string, std::string>>;

/// Matches "/a/{id}" against "/a/7": equal segments, {name} takes one whole, non-empty segment.
bool matches(std::string_view pattern, std::string_view path, captures& found) {
    found.clear();
    while (!pattern.empty() && !path.empty()) {
        pattern.remove_prefix(1);
        path.remove_prefix(1);
        const auto wanted = pattern.substr(0, pattern.find('/'));
        const auto segment = path.substr(0, path.find('/'));
        if (wanted.starts_with('{')) {
            if (segment.empty()) return false;
            found.emplace_back(wanted.substr(1, wanted.size() - 2), segment);
        } else if (wanted != segment) {
            return false;
        }
        pattern.remove_prefix(wanted.size());
        path.remove_prefix(segment.size());
    }
    return pattern.empty() && path.empty();
}

}  // namespace

std::variant<route, route_missing, method_missing> router::find(std::string_view method, std::string_view path) const {
    const std::string_view wanted = method == "HEAD" ? "GET" : method;
    std::vector<std::string_view> methods;
    route found;
    captures parts;
    for (const auto& endpoint : added_) {
        if (!matches(endpoint.pattern, path, parts)) continue;
        if (endpoint.method == wanted) {
            found.added = &endpoint;
            found.captures = std::move(parts);
            return found;
        }
        methods.push_back(endpoint.method);
    }
    for (const auto& endpoint : built_in_) {
        if (!matches(endpoint.pattern, path, parts)) continue;
        if (endpoint.method == wanted) {
            found.built_in = &endpoint;
            found.captures = std::move(parts);
            return found;
        }
        methods.push_back(endpoint.method);
    }
    if (methods.empty()) return route_missing{};
    method_missing missing;
    for (const auto name : methods) missing.allow += std::string(name) + (name == "GET" ? ", HEAD, " : ", ");
    missing.allow += "OPTIONS";
    return missing;
}

}  // namespace assay::http
