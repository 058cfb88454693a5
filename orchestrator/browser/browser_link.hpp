// A browser that an arm talks to: one that we started, or one that was running already.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "browser/cdp_connection.hpp"
#include "browser/child_process.hpp"

namespace assay {

/// How long each stage of an ending may take; their sum bounds stop().
struct stop_limits {
    std::chrono::milliseconds close{3000};      ///< from Browser.close to the process's end
    std::chrono::milliseconds terminate{1000};  ///< from SIGTERM
    std::chrono::milliseconds kill{2000};       ///< from SIGKILL: only the kernel can be slow here
};

/// How a stop went.
struct stop_report {
    bool forced = false;  ///< TERM or KILL was needed
    bool profile_removed = false;
    std::optional<child_status> status;  ///< absent when it could not be reaped in time, or was not ours
};

/// One browser with its connection.
class browser_link {
  public:
    virtual ~browser_link() = default;
    virtual cdp_connection& connection() = 0;
    /// The last lines that the browser wrote, oldest first.
    virtual std::vector<std::string> last_lines() const = 0;
    /// Its command line as far as it is known, for the receipt.
    virtual const std::vector<std::string>& stated_switches() const = 0;
    /// Whether it is a process of ours on this machine.
    virtual bool is_ours() const = 0;
    virtual std::optional<child_status> exit_status() = 0;
    virtual boost::asio::awaitable<stop_report> stop(stop_limits limits) = 0;
};

/// Connects to a running browser's WebSocket, "ws://HOST:PORT/devtools/browser/ID". stop() only ends the connection.
boost::asio::awaitable<result<std::unique_ptr<browser_link>>> attach_browser(std::string url,
                                                                             std::chrono::milliseconds limit);

}  // namespace assay
