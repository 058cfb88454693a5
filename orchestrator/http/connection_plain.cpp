#include "http/connection.hpp"
#include "http/connection_loop.hpp"

namespace assay::http {

std::string peer_address(const asio::ip::tcp::socket& socket) {
    boost::system::error_code failed;
    const auto peer = socket.remote_endpoint(failed);
    return failed ? std::string() : peer.address().to_string();
}

asio::awaitable<void> serve_plain(std::shared_ptr<server_core> core, asio::ip::tcp::socket socket) {
    auto peer = peer_address(socket);
    co_await serve_stream(std::move(core), std::move(socket), std::move(peer));
}

}  // namespace assay::http
