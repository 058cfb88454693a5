// One page of a browser: opens the arm's page, hears its events, and turns every disturbance into a typed failure.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "browser/cdp_connection.hpp"
#include "core/result.hpp"

namespace assay {

/// What a page tells. Called on the io_context's thread from inside the reader: they must not wait.
struct page_handlers {
    std::function<void(std::string event_text)> event;   ///< one call of the binding assayEvent
    std::function<void(error why)> failed;               ///< at most once
    std::function<void(std::string line)> console;       ///< console, log and exception lines
};

/// Drives one page. The connection must outlive it.
class page_driver {
  public:
    page_driver(cdp_connection& connection, std::string url, page_handlers handlers);
    ~page_driver();

    /// Sends what opens the page; the page is held until its binding is in place, so that no event can be lost.
    void post_open();
    /// Waits until the browser accepted all of it, at most `limit`.
    boost::asio::awaitable<result<void>> opened(std::chrono::milliseconds limit);
    /// For a browser that we did not start and that others use: a page in a fresh context of its own, touching nothing else.
    boost::asio::awaitable<result<void>> open_in_own_context(std::chrono::milliseconds limit);
    /// The text that an expression's promise resolves to. An exception in the page is page_failed, reason "exception".
    boost::asio::awaitable<result<std::string>> evaluate_text(std::string expression, std::chrono::milliseconds limit);
    /// Evaluates without waiting for what the expression started.
    boost::asio::awaitable<result<void>> evaluate(std::string expression, std::chrono::milliseconds limit);
    /// Closes the page (and its context); for a browser that goes on running.
    boost::asio::awaitable<void> close_page(std::chrono::milliseconds limit);

  private:
    class state;
    std::shared_ptr<state> state_;
};

}  // namespace assay
