#include <boost/asio/ssl/stream.hpp>

#include "http/connection.hpp"
#include "http/connection_loop.hpp"

namespace assay::http {

asio::awaitable<void> serve_tls(std::shared_ptr<server_core> core, std::shared_ptr<asio::ssl::context> context,
                                asio::ip::tcp::socket socket) {
    auto peer = peer_address(socket);
    asio::ssl::stream<asio::ip::tcp::socket> stream(std::move(socket), *context);
    co_await serve_stream(std::move(core), std::move(stream), std::move(peer));
}

result<std::shared_ptr<asio::ssl::context>> make_tls_context(const tls_files& files) {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    boost::system::error_code failed;
    context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                             asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                             asio::ssl::context::no_tlsv1_1,
                         failed);
    if (!failed) context->use_certificate_chain_file(files.certificate_chain, failed);
    if (failed)
        return error{assay::error_code::io_error,
                     "Cannot use the certificate " + files.certificate_chain + ": " + failed.message(),
                     "/tls/certificate"};
    context->use_private_key_file(files.private_key, asio::ssl::context::pem, failed);
    if (!failed && SSL_CTX_check_private_key(context->native_handle()) != 1)
        return error{assay::error_code::invalid_argument,
                     "The key " + files.private_key + " does not belong to the certificate", "/tls/key"};
    if (failed)
        return error{assay::error_code::io_error, "Cannot use the key " + files.private_key + ": " + failed.message(),
                     "/tls/key"};
    return context;
}

}  // namespace assay::http
