// Requests and responses as handlers see them: plain values, free of any HTTP library, so that every room can offer
// endpoints without including the server.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// What a token allows. `none` marks endpoints that are open to everyone.
enum class token_scope { none, read, trigger, agent, admin };
std::string_view scope_name(token_scope scope);
std::optional<token_scope> scope_of_name(std::string_view name);

/// One request, read completely and within the limits.
struct http_request {
    std::string method;  ///< "GET", upper case
    std::string path;    ///< percent-decoded, begins with '/', holds no "." or ".." segment
    std::vector<std::pair<std::string, std::string>> query;     ///< decoded, in order
    std::vector<std::pair<std::string, std::string>> headers;   ///< names in lower case
    std::vector<std::pair<std::string, std::string>> captures;  ///< {name} of the endpoint's pattern
    std::string body;
    std::string peer;     ///< the caller's address, without port
    std::string subject;  ///< the token's name; empty without one

    /// The first header of that lower-case name.
    std::optional<std::string_view> header(std::string_view name) const;
    std::optional<std::string_view> query_value(std::string_view name) const;
    /// The path's {name}; empty where the pattern has none.
    std::string_view capture(std::string_view name) const;
};

/// Live frames for one reader, pulled by the server; `next` never blocks. Used from the server's thread only.
class event_stream {
  public:
    virtual ~event_stream() = default;
    struct batch {
        std::string bytes;   ///< ready to send; empty where nothing is new
        bool ended = false;  ///< nothing will follow
    };
    /// At most about `limit` bytes of what is new since the last call.
    virtual batch next(std::size_t limit) = 0;
};

/// One response. Content-Length, Date and the security headers are the server's work.
struct http_response {
    int status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    std::unique_ptr<event_stream> stream;  ///< set: `body` is ignored, the stream is sent until it ends

    http_response& with(std::string name, std::string value) {
        headers.emplace_back(std::move(name), std::move(value));
        return *this;
    }
};

using respond_function = std::function<void(http_response)>;

/// An endpoint that another room adds. Exactly one handler is set.
struct http_endpoint {
    std::string method;
    std::string pattern;  ///< "/api/v1/leases/{id}"
    token_scope scope = token_scope::admin;
    /// Runs on the store's thread and may block there for as long as one database call takes.
    std::function<http_response(const http_request&)> blocking = {};
    /// Runs on the server's thread and must not block; answers by calling `respond` once, from any thread (a long
    /// poll).
    std::function<void(http_request, respond_function respond)> deferred = {};
    std::size_t body_limit = 0;  ///< bytes; 0: the server's default
};

}  // namespace assay
