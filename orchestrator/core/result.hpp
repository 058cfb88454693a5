// Expected failures: result<T> with a code of ours, a sentence, the field it names and the remedy.
#pragma once

#include <boost/system/result.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay {

/// Every expected failure, by what the caller can do about it. The text of each is code_name().
enum class error_code {
    invalid_argument,    ///< the request is wrong; `field` says where
    not_found,           ///< the thing named does not exist
    conflict,            ///< the thing is in a state that forbids this
    too_large,           ///< over a stated bound
    queue_full,          ///< the queue's bound is reached
    unauthorized,        ///< no token, or a wrong one
    forbidden,           ///< the token lacks the scope, or the gate said no
    unsupported_version, ///< a schema version that this build does not know
    signature_invalid,   ///< a receipt or message does not verify
    corrupt,             ///< stored or received bytes are damaged
    deadline_exceeded,   ///< a wait reached its end
    cancelled,           ///< the caller asked to stop
    browser_not_found,
    browser_launch_failed,
    browser_crashed,
    page_failed,         ///< the page reported an error, navigated away, opened a dialog
    arm_failed,          ///< an arm's typed error; the text begins with its code
    protocol_error,      ///< the other side broke the protocol
    io_error,            ///< file, disk or socket
    unavailable,         ///< a service needed is not reachable
    internal,
};

/// "invalid-argument" and so on: stable, for tools.
std::string_view code_name(error_code code);

/// One expected failure.
struct error {
    error_code code = error_code::internal;
    /// What was asked, of whom, and what went wrong: one sentence or more.
    std::string message;
    /// JSON pointer of the wrong field ("/steps"), or the flag's name; empty where none.
    std::string field = {};
    /// What to do about it; empty where the message says it.
    std::string remedy = {};
    /// A finer, stable reason within the code ("device-lost", "dialog", "silence"); empty where the code says it all.
    std::string reason = {};

    /// message, field and remedy as one line for a terminal or a log.
    std::string text() const;
};

/// Thrown by result::value() on an error, and for infrastructure failures that end a run or a session.
class error_exception : public std::runtime_error {
  public:
    explicit error_exception(error cause) : std::runtime_error(cause.text()), error_(std::move(cause)) {}
    const error& cause() const { return error_; }

  private:
    error error_;
};

[[noreturn]] void throw_exception_from_error(const error& cause, const boost::source_location& location);

template <class T>
using result = boost::system::result<T, error>;

}  // namespace assay
