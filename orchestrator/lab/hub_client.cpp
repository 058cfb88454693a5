#include "lab/hub_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "contract/lab_messages.hpp"

namespace assay::lab {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using request = http::request<http::string_body>;

constexpr std::size_t max_answer_bytes = 16u << 20;

template <class Stream>
asio::awaitable<hub_answer> exchange(Stream& stream, request& message) {
    co_await http::async_write(stream, message, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(max_answer_bytes);
    co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
    co_return hub_answer{static_cast<int>(parser.get().result_int()), std::move(parser.get().body())};
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

asio::awaitable<hub_answer> plain_call(hub_address address, request message) {
    auto socket = co_await connect(address.host, address.port);
    auto answer = co_await exchange(socket, message);
    co_return answer;
}

asio::awaitable<hub_answer> secure_call(hub_address address, request message, asio::ssl::context* security) {
    auto socket = co_await connect(address.host, address.port);
    asio::ssl::stream<tcp::socket> stream(std::move(socket), *security);
    SSL_set_tlsext_host_name(stream.native_handle(), address.host.c_str());
    stream.set_verify_callback(asio::ssl::host_name_verification(address.host));
    co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    auto answer = co_await exchange(stream, message);
    co_return answer;
}

}  // namespace

struct hub_client::security {
    asio::ssl::context context{asio::ssl::context::tls_client};
};

result<hub_address> parse_hub_url(std::string_view url) {
    const error wrong{error_code::invalid_argument, "'" + std::string(url) + "' is not a hub", "--hub",
                      "Write https://HOST[:PORT], or http://HOST[:PORT] within a trusted network."};
    hub_address out;
    if (url.starts_with("https://")) {
        url.remove_prefix(8);
    } else if (url.starts_with("http://")) {
        out.secure = false;
        url.remove_prefix(7);
    } else {
        return wrong;
    }
    const auto slash = std::min(url.find('/'), url.size());
    out.base_path = url.substr(slash);
    while (out.base_path.ends_with('/')) out.base_path.pop_back();
    const auto authority = url.substr(0, slash);
    const auto colon = authority.ends_with(']') ? std::string_view::npos : authority.rfind(':');
    out.host = authority.substr(0, colon);
    out.port = colon == std::string_view::npos ? (out.secure ? "443" : "80") : std::string(authority.substr(colon + 1));
    if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
        out.host = out.host.substr(1, out.host.size() - 2);
    const bool odd_port = out.port.empty() || out.port.find_first_not_of("0123456789") != std::string::npos;
    if (out.host.empty() || odd_port || url.find_first_of("@?# ") != std::string_view::npos) return wrong;
    return out;
}

hub_client::hub_client(hub_address address, std::string token, std::optional<std::string> ca_file)
    : address_(std::move(address)), token_(std::move(token)) {
    if (!address_.secure) return;
    security_ = std::make_unique<security>();
    security_->context.set_verify_mode(asio::ssl::verify_peer);
    if (ca_file)
        security_->context.load_verify_file(*ca_file);
    else
        security_->context.set_default_verify_paths();
}

hub_client::~hub_client() = default;

result<hub_answer> hub_client::call(std::string_view method, std::string_view path, std::string body,
                                    std::string content_type, std::chrono::milliseconds limit) {
    request message(http::string_to_verb(method), address_.base_path + std::string(path), 11);
    const bool standard_port = address_.port == (address_.secure ? "443" : "80");
    message.set(http::field::host, standard_port ? address_.host : address_.host + ":" + address_.port);
    message.set(http::field::connection, "close");
    if (!token_.empty()) message.set(http::field::authorization, "Bearer " + token_);
    if (!body.empty()) message.set(http::field::content_type, content_type);
    message.body() = std::move(body);
    message.prepare_payload();

    const std::string asked = std::string(method) + " " + std::string(path);
    asio::io_context context(1);
    {
        const std::lock_guard held(mutex_);
        if (stopped_) return error{error_code::cancelled, "the agent stops"};
        current_ = &context;
    }
    std::optional<hub_answer> answer;
    std::exception_ptr failure;
    auto work = security_ ? secure_call(address_, std::move(message), &security_->context)
                          : plain_call(address_, std::move(message));
    asio::co_spawn(context, std::move(work), [&](std::exception_ptr thrown, hub_answer value) {
        failure = thrown;
        if (!thrown) answer = std::move(value);
    });
    context.run_for(limit);
    {
        const std::lock_guard held(mutex_);
        current_ = nullptr;
        if (stopped_ && !answer) return error{error_code::cancelled, "the agent stops"};
    }
    if (answer) return std::move(*answer);
    const std::string hub = address_.host + ":" + address_.port;
    if (!failure)
        return error{error_code::deadline_exceeded, "the hub at " + hub + " did not answer " + asked + " in time"};
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& cause) {
        return error{error_code::unavailable, "the hub at " + hub + " cannot be reached: " + cause.code().message()};
    } catch (const std::exception& cause) {
        return error{error_code::unavailable, "the hub at " + hub + " cannot be reached: " + cause.what()};
    }
}

result<hub_answer> hub_client::call_json(std::string_view method, std::string_view path, std::string body,
                                         std::chrono::milliseconds limit) {
    return call(method, path, std::move(body), "application/json", limit);
}

void hub_client::pause(std::chrono::milliseconds duration) {
    std::unique_lock held(mutex_);
    changed_.wait_for(held, duration, [this] { return stopped_; });
}

void hub_client::interrupt() {
    const std::lock_guard held(mutex_);
    stopped_ = true;
    if (current_ != nullptr) current_->stop();
    changed_.notify_all();
}

bool hub_client::interrupted() const {
    const std::lock_guard held(mutex_);
    return stopped_;
}

error error_of_answer(const hub_answer& answer, std::string_view asked) {
    const auto facts = read_problem(answer.body);
    const std::string text = "the hub answered " + std::string(asked) + " with " + std::to_string(answer.status) +
                             (facts.detail.empty() ? "" : ": " + facts.detail);
    switch (answer.status) {
        case 400:
            return {error_code::invalid_argument, text};
        case 401:
            return {error_code::unauthorized, text, "--token"};
        case 403:
            return {error_code::forbidden, text};
        case 404:
            return {error_code::not_found, text};
        case 409:
            return {error_code::conflict, text};
        case 413:
            return {error_code::too_large, text};
        case 422:
            return {error_code::corrupt, text};
        default:
            return {error_code::unavailable, text};
    }
}

}  // namespace assay::lab
