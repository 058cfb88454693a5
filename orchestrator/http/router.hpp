// Which endpoint a request means: a table of methods and patterns, matched segment by segment.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/http_message.hpp"
#include "http/api.hpp"

namespace assay::http {

/// Where a handler runs.
enum class runs_on {
    server_thread,  ///< answers at once from memory
    store_thread,   ///< calls the store
};

using api_handler = http_response (*)(api_context&, const http_request&);

/// One row of the built-in table.
struct api_endpoint {
    std::string_view method;
    std::string_view pattern;
    token_scope scope = token_scope::read;
    runs_on place = runs_on::store_thread;
    api_handler handler = nullptr;
};

/// What a method and a path lead to.
struct route {
    const api_endpoint* built_in = nullptr;
    const http_endpoint* added = nullptr;
    std::vector<std::pair<std::string, std::string>> captures;

    token_scope scope() const { return built_in ? built_in->scope : added->scope; }
    std::string_view pattern() const { return built_in ? built_in->pattern : std::string_view(added->pattern); }
};

struct route_missing {};  ///< no endpoint has the path
struct method_missing {
    std::string allow;
};  ///< the path exists, with these methods ("GET, HEAD, OPTIONS")

class router {
  public:
    router(std::span<const api_endpoint> built_in, std::vector<http_endpoint> added)
        : built_in_(built_in), added_(std::move(added)) {}

    /// Added endpoints come before built-in ones. HEAD finds GET's endpoint. OPTIONS is answered by the caller from
    /// `allow`.
    std::variant<route, route_missing, method_missing> find(std::string_view method, std::string_view path) const;

  private:
    std::span<const api_endpoint> built_in_;
    std::vector<http_endpoint> added_;
};

}  // namespace assay::http
