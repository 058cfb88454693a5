#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>

#include "browser/cdp_frame_buffer.hpp"
#include "browser/cdp_transport.hpp"

namespace assay {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;

namespace {

class websocket_transport final : public cdp_transport, public std::enable_shared_from_this<websocket_transport> {
  public:
    explicit websocket_transport(asio::any_io_executor executor) : socket_(std::move(executor)) {
        socket_.read_message_max(max_cdp_frame_bytes);
        socket_.text(true);
        // One frame a message: some browsers close the connection without a word when a message comes in fragments.
        socket_.auto_fragment(false);
    }

    asio::awaitable<result<void>> connect(websocket_address address, std::chrono::milliseconds limit) {
        const auto self = shared_from_this();
        const std::string name = address.host + ":" + address.port;
        boost::system::error_code failure;
        tcp::resolver resolver(socket_.get_executor());
        const auto places = co_await resolver.async_resolve(address.host, address.port,
                                                            asio::redirect_error(asio::use_awaitable, failure));
        if (failure) co_return unreachable(name, failure);
        beast::get_lowest_layer(socket_).expires_after(limit);
        co_await beast::get_lowest_layer(socket_).async_connect(places, asio::redirect_error(asio::use_awaitable, failure));
        if (failure) co_return unreachable(name, failure);
        co_await socket_.async_handshake(name, address.path, asio::redirect_error(asio::use_awaitable, failure));
        if (failure) co_return unreachable(name, failure);
        beast::get_lowest_layer(socket_).expires_never();  // every call above this layer has its own deadline
        co_return result<void>();
    }

    void send(std::string frame) override {
        if (closed_) return;
        unsent_bytes_ += frame.size();
        if (unsent_bytes_ > max_unsent_bytes) {
            close();
            return;
        }
        unsent_.push_back(std::move(frame));
        if (!writing_) write_next();
    }

    asio::awaitable<result<std::string>> receive() override {
        const auto self = shared_from_this();
        if (closed_) co_return gone("the connection is closed");
        beast::flat_buffer message;
        boost::system::error_code failure;
        co_await socket_.async_read(message, asio::redirect_error(asio::use_awaitable, failure));
        if (failure == beast::websocket::error::message_too_big)
            co_return error{error_code::too_large,
                            "the browser sent a message over " + std::to_string(max_cdp_frame_bytes >> 20) + " MiB"};
        if (failure) co_return gone(failure.message());
        co_return std::string(static_cast<const char*>(message.data().data()), message.size());
    }

    void close() override {
        if (std::exchange(closed_, true)) return;
        // No closing handshake: the other side may be dead, and nothing is lost by a short goodbye.
        boost::system::error_code ignored;
        beast::get_lowest_layer(socket_).socket().close(ignored);
        unsent_.clear();
    }

  private:
    static error gone(const std::string& why) {
        return error{error_code::browser_crashed, "the browser's WebSocket ended: " + why, {}, {}, "crashed"};
    }

    static error unreachable(const std::string& name, const boost::system::error_code& failure) {
        return error{error_code::unavailable, "no DevTools WebSocket at " + name + ": " + failure.message(), "--attach",
                     "Start the browser with --remote-debugging-port and give the address it prints."};
    }

    void write_next() {
        writing_ = true;
        in_flight_ = std::move(unsent_.front());
        unsent_.pop_front();
        socket_.async_write(asio::buffer(in_flight_),
                            [self = shared_from_this()](boost::system::error_code failure, std::size_t) {
                                self->written(failure);
                            });
    }

    void written(const boost::system::error_code& failure) {
        writing_ = false;
        unsent_bytes_ -= std::min(unsent_bytes_, in_flight_.size());
        if (failure) {
            close();
        } else if (!unsent_.empty()) {
            write_next();
        }
    }

    beast::websocket::stream<beast::tcp_stream> socket_;
    std::deque<std::string> unsent_;
    std::string in_flight_;
    std::size_t unsent_bytes_ = 0;
    bool writing_ = false;
    bool closed_ = false;
};

}  // namespace

result<websocket_address> parse_websocket_address(const std::string& url) {
    const error wrong{error_code::invalid_argument, "'" + url + "' is not the address of a DevTools WebSocket", "--attach",
                      "Give it as ws://HOST:PORT/devtools/browser/ID."};
    constexpr std::string_view scheme = "ws://";
    if (!url.starts_with(scheme)) return wrong;
    const std::string rest = url.substr(scheme.size());
    const auto slash = rest.find('/');
    const std::string place = rest.substr(0, slash);
    const auto colon = place.rfind(':');
    websocket_address address;
    address.path = slash == std::string::npos ? "/" : rest.substr(slash);
    address.host = place.substr(0, colon);
    address.port = colon == std::string::npos ? "80" : place.substr(colon + 1);
    const bool digits = !address.port.empty() && address.port.find_first_not_of("0123456789") == std::string::npos;
    if (address.host.empty() || !digits || address.port.size() > 5) return wrong;
    return address;
}

asio::awaitable<result<std::shared_ptr<cdp_transport>>> connect_websocket_transport(std::string url,
                                                                                    std::chrono::milliseconds limit) {
    const auto address = parse_websocket_address(url);
    if (!address) co_return address.error();
    auto transport = std::make_shared<websocket_transport>(co_await asio::this_coro::executor);
    auto connected = co_await transport->connect(*address, limit);
    if (!connected) co_return connected.error();
    std::shared_ptr<cdp_transport> ready = std::move(transport);
    co_return ready;
}

}  // namespace assay
