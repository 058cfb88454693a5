// What the connections of one server share. Used from the server's thread only, but for what says otherwise.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_set>

#include "http/access.hpp"
#include "http/http_server.hpp"
#include "http/rate_limiter.hpp"
#include "http/router.hpp"
#include "http/server_metrics.hpp"
#include "http/static_files.hpp"
#include "http/token_table.hpp"

namespace assay::http {

using steady_time = std::chrono::steady_clock::time_point;

/// One connection as the server's clock sees it.
class connection_base {
  public:
    virtual ~connection_base() = default;
    /// Closes the socket; what waits on it ends.
    virtual void abort() = 0;
    /// Looks for live events again.
    virtual void wake() {}

    steady_time deadline = steady_time::max();
    bool idle = true;        ///< between requests
    bool streaming = false;  ///< sends live events
};

struct server_core {
    http_server_options options;
    api_context api;
    work_executor* store_work = nullptr;
    boost::asio::io_context io{1};
    std::unique_ptr<static_files> files;
    router routes;
    host_policy hosts;
    std::unordered_set<std::shared_ptr<connection_base>> connections;
    std::atomic<std::size_t> open_connections{0};
    std::string date;          ///< the Date header of this second
    steady_time coarse_now{};  ///< moves with the server's clock tick
    bool stopping = false;
    token_table tokens;
    rate_limiter limiter;
    server_metrics metrics;

    server_core(http_server_options the_options, api_context the_api, work_executor* work);

    /// What to do with a request whose head and body have been read: an answer at once, or a handler to run.
    struct decision {
        std::optional<http_response> answer;
        std::optional<route> target;
    };
    decision decide(http_request& request);

    /// The most body bytes that the request may have.
    std::size_t body_limit(std::string_view method, std::string_view path) const;
};

}  // namespace assay::http
