#include "client/http_client.hpp"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace assay::client {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using message = http::request<http::string_body>;
using boost::system::error_code;

}  // namespace

struct http_client::security {
    asio::ssl::context context{asio::ssl::context::tls_client};
};

/// What the coroutine of one call and its waiting caller share.
struct http_client::exchange_state {
    message request;
    std::function<bool(std::string_view)> take;
    client_answer answer;
    std::chrono::steady_clock::time_point last_sign = std::chrono::steady_clock::now();
    bool done = false;
    std::exception_ptr failure;
};

namespace {

template <class State>
void note_sign_of_life(State& state) {
    state.last_sign = std::chrono::steady_clock::now();
}

template <class Stream, class State>
asio::awaitable<void> converse(Stream& stream, State& state) {
    co_await http::async_write(stream, state.request, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    http::response_parser<http::buffer_body> parser;
    parser.body_limit(boost::none);
    co_await http::async_read_header(stream, buffer, parser, asio::use_awaitable);
    note_sign_of_life(state);
    state.answer.status = static_cast<int>(parser.get().result_int());
    const bool handed_over = state.take && state.answer.status == 200;
    std::array<char, 16384> part;
    while (!parser.is_done()) {
        parser.get().body().data = part.data();
        parser.get().body().size = part.size();
        error_code failed;
        co_await http::async_read_some(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, failed));
        note_sign_of_life(state);
        const std::string_view bytes(part.data(), part.size() - parser.get().body().size);
        if (handed_over) {
            if (!bytes.empty() && !state.take(bytes)) co_return;
        } else {
            state.answer.body += bytes;
            if (state.answer.body.size() > max_answer_bytes)
                throw std::runtime_error("the answer is over " + std::to_string(max_answer_bytes >> 20) + " MiB");
        }
        if (failed == http::error::need_buffer) continue;
        // Many servers end TLS by closing alone. Where the length was told, the parser knows that the end came early.
        const bool cut = failed == asio::ssl::error::stream_truncated || failed == asio::error::eof;
        if (cut && parser.need_eof()) co_return;
        if (failed) throw boost::system::system_error(failed);
    }
}

asio::awaitable<tcp::socket> connect(std::string host, std::string port) {
    const auto executor = co_await asio::this_coro::executor;
    tcp::resolver resolver(executor);
    const auto endpoints = co_await resolver.async_resolve(host, port, asio::use_awaitable);
    tcp::socket socket(executor);
    co_await asio::async_connect(socket, endpoints, asio::use_awaitable);
    socket.set_option(tcp::no_delay(true));
    co_return socket;
}

template <class State>
asio::awaitable<void> plain_call(url_parts server, State* state) {
    auto socket = co_await connect(server.host, server.port);
    co_await converse(socket, *state);
}

template <class State>
asio::awaitable<void> secure_call(url_parts server, State* state, asio::ssl::context* security) {
    auto socket = co_await connect(server.host, server.port);
    asio::ssl::stream<tcp::socket> stream(std::move(socket), *security);
    SSL_set_tlsext_host_name(stream.native_handle(), server.host.c_str());
    stream.set_verify_callback(asio::ssl::host_name_verification(server.host));
    co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    co_await converse(stream, *state);
}

}  // namespace

http_client::http_client(url_parts server, std::string token, std::optional<std::string> ca_file)
    : server_(std::move(server)), token_(std::move(token)) {
    if (!server_.secure) return;
    security_ = std::make_unique<security>();
    security_->context.set_verify_mode(asio::ssl::verify_peer);
    if (ca_file)
        security_->context.load_verify_file(*ca_file);
    else
        security_->context.set_default_verify_paths();
}

http_client::~http_client() = default;

result<client_answer> http_client::call(const client_request& request, std::chrono::milliseconds limit) {
    return exchange(request, limit, false, {});
}

result<client_answer> http_client::stream(const client_request& request, std::chrono::milliseconds idle,
                                          std::function<bool(std::string_view)> take) {
    return exchange(request, idle, true, std::move(take));
}

result<client_answer> http_client::exchange(const client_request& request, std::chrono::milliseconds limit,
                                            bool limit_is_idle, std::function<bool(std::string_view)> take) {
    exchange_state state;
    state.take = std::move(take);
    message& out = state.request;
    out.version(11);
    out.method_string(request.method);
    out.target(request.target);
    out.set(http::field::host, server_.authority());
    out.set(http::field::connection, "close");
    if (!token_.empty()) out.set(http::field::authorization, "Bearer " + token_);
    if (!request.body.empty()) out.set(http::field::content_type, request.content_type);
    for (const auto& [name, value] : request.headers) out.set(name, value);
    out.body() = request.body;
    out.prepare_payload();

    asio::io_context context(1);
    const error stopped{assay::error_code::cancelled, "the call was stopped"};
    {
        const std::lock_guard held(mutex_);
        if (stopped_) return stopped;
        current_ = &context;
    }
    auto work = security_ ? secure_call(server_, &state, &security_->context) : plain_call(server_, &state);
    asio::co_spawn(context, std::move(work), [&state](std::exception_ptr thrown) {
        state.failure = thrown;
        state.done = true;
    });
    const auto last_moment = std::chrono::steady_clock::now() + limit;
    while (!state.done && !context.stopped()) {
        const auto end = limit_is_idle ? state.last_sign + limit : last_moment;
        if (std::chrono::steady_clock::now() >= end) break;
        if (limit_is_idle)
            context.run_one_until(end);  // every part that arrives moves the end
        else
            context.run_until(end);
    }
    {
        const std::lock_guard held(mutex_);
        current_ = nullptr;
        if (stopped_ && !state.done) return stopped;
    }
    const std::string asked = request.method + " " + request.target;
    const std::string who = server_.authority();
    if (!state.done)
        return error{assay::error_code::deadline_exceeded, "the server at " + who + " did not answer " + asked + " in time"};
    if (!state.failure) return std::move(state.answer);
    std::string why;
    try {
        std::rethrow_exception(state.failure);
    } catch (const boost::system::system_error& cause) {
        why = cause.code().message();
    } catch (const std::exception& cause) {
        why = cause.what();
    }
    return error{assay::error_code::unavailable, "the server at " + who + " cannot be reached: " + why};
}

void http_client::interrupt() {
    const std::lock_guard held(mutex_);
    stopped_ = true;
    if (current_ != nullptr) current_->stop();
}

bool http_client::interrupted() const {
    const std::lock_guard held(mutex_);
    return stopped_;
}

}  // namespace assay::client
