#include "scripted_hub.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace assay::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

template <class Stream>
bool read_call(Stream& stream, hub_call& call) {
    boost::beast::flat_buffer buffer;
    http::request_parser<http::string_body> parser;
    parser.body_limit(64u << 20);
    boost::system::error_code failure;
    http::read(stream, buffer, parser, failure);
    if (failure) return false;
    auto& message = parser.get();
    call = {std::string(message.method_string()), std::string(message.target()), std::move(message.body())};
    return true;
}

template <class Stream>
void write_reply(Stream& stream, const hub_reply& reply) {
    http::response<http::string_body> message(http::int_to_status(static_cast<unsigned>(reply.status)), 11);
    message.set(http::field::content_type, "application/json");
    message.set(http::field::connection, "close");
    message.body() = reply.body;
    message.prepare_payload();
    boost::system::error_code ignored;
    http::write(stream, message, ignored);
}

void write_pem(const std::string& path, const std::function<int(std::FILE*)>& write) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    const bool written = file != nullptr && write(file) == 1;
    if (file != nullptr) std::fclose(file);
    if (!written) throw std::runtime_error("cannot write " + path);
}

}  // namespace

void make_certificate(const std::string& folder) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
    X509* certificate = made.get();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key.get());
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1,
                               0);
    X509_set_issuer_name(certificate, name);
    for (const auto& [kind, value] :
         {std::pair{NID_subject_alt_name, "DNS:localhost"}, std::pair{NID_basic_constraints, "critical,CA:TRUE"}}) {
        X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
        X509_add_ext(certificate, extension, -1);
        X509_EXTENSION_free(extension);
    }
    X509_sign(certificate, key.get(), EVP_sha256());
    write_pem(folder + "/hub.pem", [&](std::FILE* file) { return PEM_write_X509(file, certificate); });
    write_pem(folder + "/hub.key", [&](std::FILE* file) {
        return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
}

struct scripted_hub::state {
    state(script given, const std::string& folder) : answers(std::move(given)), secure(!folder.empty()) {
        if (secure) {
            security.use_certificate_chain_file(folder + "/hub.pem");
            security.use_private_key_file(folder + "/hub.key", asio::ssl::context::pem);
        }
        thread = std::thread([this] { serve(); });
    }
    ~state() {
        stopping = true;
        // Wakes the accept below; closing the socket from here would race with it.
        ::shutdown(acceptor.native_handle(), SHUT_RDWR);
        thread.join();
    }

    void serve() {
        while (!stopping) {
            tcp::socket socket(context);
            boost::system::error_code failure;
            acceptor.accept(socket, failure);
            if (failure) return;
            if (secure) {
                asio::ssl::stream<tcp::socket> stream(std::move(socket), security);
                stream.handshake(asio::ssl::stream_base::server, failure);
                if (!failure) answer(stream);
            } else {
                answer(socket);
            }
        }
    }

    template <class Stream>
    void answer(Stream& stream) {
        hub_call call;
        if (!read_call(stream, call)) return;
        {
            const std::lock_guard held(mutex);
            calls.push_back(call);
        }
        const auto reply = answers(call);
        if (!reply.cut) write_reply(stream, reply);
    }

    script answers;
    bool secure;
    asio::io_context context;
    asio::ssl::context security{asio::ssl::context::tls_server};
    tcp::acceptor acceptor{context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    std::mutex mutex;
    std::vector<hub_call> calls;
    std::atomic<bool> stopping{false};
    std::thread thread;
};

scripted_hub::scripted_hub(script answers, std::string certificate_folder)
    : state_(std::make_unique<state>(std::move(answers), certificate_folder)) {}

scripted_hub::~scripted_hub() = default;

lab::hub_address scripted_hub::address() const {
    const std::string port = std::to_string(state_->acceptor.local_endpoint().port());
    return lab::parse_hub_url(state_->secure ? "https://localhost:" + port : "http://127.0.0.1:" + port).value();
}

std::vector<hub_call> scripted_hub::calls() const {
    const std::lock_guard held(state_->mutex);
    return state_->calls;
}

}  // namespace assay::test
