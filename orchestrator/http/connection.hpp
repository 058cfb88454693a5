// Connections of both kinds. connection_loop.hpp has what they share and is the only place that knows Boost.Beast.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "http/server_core.hpp"

namespace assay::http {

/// Serves a plain connection until it ends; never throws. The connection registers itself with the core.
boost::asio::awaitable<void> serve_plain(std::shared_ptr<server_core> core, boost::asio::ip::tcp::socket socket);

/// The same over TLS; the handshake has the deadline of a request's head.
boost::asio::awaitable<void> serve_tls(std::shared_ptr<server_core> core,
                                       std::shared_ptr<boost::asio::ssl::context> context,
                                       boost::asio::ip::tcp::socket socket);

/// TLS 1.2 and newer with the files given; errors point at /tls/certificate or /tls/key.
result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(const tls_files& files);

/// The caller's address without its port; empty for a connection that is gone already.
std::string peer_address(const boost::asio::ip::tcp::socket& socket);

}  // namespace assay::http
