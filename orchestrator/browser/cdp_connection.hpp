// DevTools calls and events over one transport: numbers, replies, deadlines, sessions.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "browser/cdp_transport.hpp"
#include "core/result.hpp"

namespace assay {

/// A DevTools session id; empty means the browser itself.
using cdp_session_id = std::string;

/// What a call was answered with, or why it was not.
using cdp_answer = result<std::shared_ptr<const nlohmann::json>>;

/// A call that was sent and whose reply has not been taken.
struct cdp_ticket {
    std::uint64_t id = 0;
};

/// One connection. All use is on the io_context's thread. Destroying it closes the transport; waiting calls then fail.
class cdp_connection {
  public:
    using event_handler = std::function<void(std::string_view method, const nlohmann::json& parameters)>;
    using closed_handler = std::function<void(const error& why)>;

    cdp_connection(boost::asio::any_io_executor executor, std::shared_ptr<cdp_transport> transport);
    ~cdp_connection();
    cdp_connection(const cdp_connection&) = delete;
    cdp_connection& operator=(const cdp_connection&) = delete;

    /// Starts reading. Call once, after the handlers are set.
    void start();

    /// Sends a call at once and returns a ticket for its reply, so that several calls travel together.
    cdp_ticket post(const cdp_session_id& session, std::string_view method, const nlohmann::json& parameters);
    /// The reply to a posted call, waiting at most `limit`: deadline_exceeded with reason "silence", protocol_error with the
    /// browser's words when it refuses, or the failure that ended the connection. A ticket is good for one reply.
    boost::asio::awaitable<cdp_answer> reply(cdp_ticket ticket, std::chrono::milliseconds limit);
    /// post and reply in one; `parameters` are read before it returns.
    boost::asio::awaitable<cdp_answer> call(cdp_session_id session, std::string method, const nlohmann::json& parameters,
                                            std::chrono::milliseconds limit);
    /// Sends a call whose reply nobody needs; a refusal is dropped.
    void send_only(const cdp_session_id& session, std::string_view method, const nlohmann::json& parameters);

    /// Takes the events of one session (empty: of the browser). Handlers run inside the reader: they must not wait.
    void on_event(const cdp_session_id& session, event_handler handler);
    /// Called once, when the transport ends for any reason but close().
    void on_closed(closed_handler handler);
    /// Ends every waiting and every later call with this error, without closing the transport: the page is lost, the browser
    /// may still answer Browser.close (see `call_anyway`).
    void fail_calls(const error& why);
    /// As call(), after fail_calls() too.
    boost::asio::awaitable<cdp_answer> call_anyway(std::string method, std::chrono::milliseconds limit);

    /// Whether the transport has not ended.
    bool is_open() const;
    /// Calls posted whose reply has neither come nor been given up.
    std::size_t waiting_calls() const;
    void close();

  private:
    class state;
    std::shared_ptr<state> state_;
};

}  // namespace assay
