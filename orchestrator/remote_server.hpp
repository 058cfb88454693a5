// The command line as a client of `assay serve`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/http_client.hpp"
#include "command_options.hpp"
#include "contract/run_facts.hpp"

namespace assay {

/// One server, as the commands ask it. Answers of 300 and above become errors with the problem document's words. The token
/// comes from a file or from ASSAY_TOKEN and is never printed.
class remote_server {
  public:
    static result<std::unique_ptr<remote_server>> open(const remote_options& options);

    result<std::string> get(const std::string& target);
    result<run_facts> start_run(const std::string& request_text);
    result<run_facts> find_run(const std::string& id);
    /// Asks for the end; conflict where the run has ended.
    result<run_facts> cancel_run(const std::string& id);

    /// Hands over every live event (kind, data) of the run until its end, connecting anew where the connection breaks, and
    /// going on behind the last event seen. `take` answers false to stop.
    result<void> follow(const std::string& id, const std::function<bool(std::string_view, std::string_view)>& take);
    /// Ends the call in progress; from a signal's thread.
    void interrupt() { client_.interrupt(); }
    /// The address as the user wrote it.
    const std::string& url() const { return url_; }

  private:
    remote_server(std::string url, client::url_parts server, std::string token, std::optional<std::string> ca_file);
    result<client::client_answer> ask(const std::string& method, const std::string& target, std::string body);

    std::string url_, base_path_;
    client::http_client client_;
};

/// The server's token: the file's first line, or ASSAY_TOKEN, or none.
result<std::string> read_token(const std::optional<std::string>& file);

/// Splits a stream of server-sent events into events; keeps what is not whole yet.
class event_splitter {
  public:
    struct event {
        std::string id, kind, data;
    };
    /// Whole events in `bytes` and what was kept before. Comments and unknown fields are passed over.
    std::vector<event> take(std::string_view bytes);

  private:
    std::string kept_;
};

}  // namespace assay
