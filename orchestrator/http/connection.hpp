// One connection: requests in, answers out, one after another. The only place that knows Boost.Beast.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "http/server_core.hpp"

namespace assay::http {

/// Serves a plain connection until it ends; never throws. The connection registers itself with the core.
boost::asio::awaitable<void> serve_plain(std::shared_ptr<server_core> core, boost::asio::ip::tcp::socket socket);

}  // namespace assay::http
