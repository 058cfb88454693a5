// How DevTools frames travel: over Chrome's pipe, or over a WebSocket to a browser that runs already.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "browser/child_process.hpp"
#include "core/result.hpp"

namespace assay {

/// Frames that wait to be written; more than this and the other side is taken to have stopped reading.
inline constexpr std::size_t max_unsent_bytes = std::size_t{64} << 20;

/// One JSON text a frame. Used by one thread; one receive() at a time.
class cdp_transport {
  public:
    virtual ~cdp_transport() = default;
    /// Queues a frame; never waits. A failure shows in receive().
    virtual void send(std::string frame) = 0;
    /// The next frame. An error ends the transport: browser_crashed when the other side is gone, too_large for a frame over
    /// the bound, protocol_error for bytes that are no frame.
    virtual boost::asio::awaitable<result<std::string>> receive() = 0;
    /// Ends both directions; a receive() in progress returns. Safe to call twice.
    virtual void close() = 0;
};

/// Over two pipes, frames ended by NUL. Takes the descriptors, which must be non-blocking.
std::shared_ptr<cdp_transport> make_pipe_transport(boost::asio::any_io_executor executor, unique_descriptor reader,
                                                   unique_descriptor writer);

/// Over a WebSocket, one message a frame, up to max_cdp_frame_bytes each. `url` is "ws://HOST:PORT/PATH"; anything else is
/// invalid_argument, field "--attach". Connecting ends within `limit`.
boost::asio::awaitable<result<std::shared_ptr<cdp_transport>>> connect_websocket_transport(std::string url,
                                                                                           std::chrono::milliseconds limit);

/// The parts of a "ws://HOST[:PORT]/PATH" address.
struct websocket_address {
    std::string host, port, path;
};
result<websocket_address> parse_websocket_address(const std::string& url);

}  // namespace assay
