// Calls to a server over HTTP or HTTPS: one connection a call, each with a deadline. Of the agent, of the command line as
// a client, and of webhooks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace boost::asio {
class io_context;
}

namespace assay::client {

/// An absolute URL in parts.
struct url_parts {
    bool secure = true;
    std::string host, port;  ///< an IPv6 address without its brackets
    std::string target;      ///< what stands behind the port: "", "/path", "/path?query"

    /// "host" or "host:port", as a Host header has it.
    std::string authority() const;
};

/// Reads "http://HOST[:PORT][/PATH][?QUERY]" or "https://...". User names, fragments, blanks and control characters are
/// refused. `named_by` is the flag or field that an error names.
result<url_parts> parse_url(std::string_view url, std::string_view named_by);

struct client_request {
    std::string method = "GET";
    std::string target;  ///< begins with '/'
    std::string body = {};
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers = {};
};

struct client_answer {
    int status = 0;
    std::string body;
};

inline constexpr std::size_t max_answer_bytes = 16u << 20;

/// Calls block. interrupt() may come from any thread and ends the call in progress and all later ones as cancelled.
class http_client {
  public:
    /// `token` is sent as a bearer token where it is not empty; `ca_file` (PEM) replaces the system's authorities. Throws
    /// boost::system::system_error for a file that holds none.
    http_client(url_parts server, std::string token, std::optional<std::string> ca_file);
    ~http_client();

    /// unavailable when the server cannot be reached or breaks off, deadline_exceeded when `limit` is over; any status
    /// is an answer.
    result<client_answer> call(const client_request& request, std::chrono::milliseconds limit);

    /// Hands the body of a 200 answer over as it arrives, until it ends or `take` answers false; the body of another
    /// status is in the answer. `idle` bounds the wait for every part.
    result<client_answer> stream(const client_request& request, std::chrono::milliseconds idle,
                                 std::function<bool(std::string_view)> take);

    void interrupt();
    bool interrupted() const;
    const url_parts& server() const { return server_; }

  private:
    struct security;
    struct exchange_state;
    result<client_answer> exchange(const client_request& request, std::chrono::milliseconds limit, bool limit_is_idle,
                                   std::function<bool(std::string_view)> take);

    url_parts server_;
    std::string token_;
    std::unique_ptr<security> security_;
    mutable std::mutex mutex_;
    bool stopped_ = false;
    boost::asio::io_context* current_ = nullptr;
};

}  // namespace assay::client
