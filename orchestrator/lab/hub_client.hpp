// An agent's calls to its hub.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "client/http_client.hpp"
#include "core/result.hpp"

namespace assay::lab {

/// Where the hub is.
struct hub_address {
    bool secure = true;
    std::string host, port;
    std::string base_path;  ///< "" or "/assay": what stands before /api
};
/// Reads "https://HOST[:PORT][/PATH]" or "http://...".
result<hub_address> parse_hub_url(std::string_view url);

using hub_answer = client::client_answer;

/// Calls block. interrupt() may come from any thread and ends the call in progress and all later ones as cancelled.
class hub_client {
  public:
    /// `token` is sent as a bearer token; `ca_file` (PEM) replaces the system's authorities.
    hub_client(hub_address address, std::string token, std::optional<std::string> ca_file);

    /// unavailable when the hub cannot be reached or breaks off, deadline_exceeded when `limit` is over; any status is
    /// an answer.
    result<hub_answer> call(std::string_view method, std::string_view path, std::string body, std::string content_type,
                            std::chrono::milliseconds limit);
    /// The same with a JSON body, for documents.
    result<hub_answer> call_json(std::string_view method, std::string_view path, std::string body,
                                 std::chrono::milliseconds limit = std::chrono::seconds(15));
    /// Waits, unless interrupted.
    void pause(std::chrono::milliseconds duration);
    void interrupt();
    bool interrupted() const;

  private:
    client::http_client client_;
    std::string base_path_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stopped_ = false;
};

/// The error that a status of 300 and above stands for, with the problem document's detail.
error error_of_answer(const hub_answer& answer, std::string_view asked);

}  // namespace assay::lab
