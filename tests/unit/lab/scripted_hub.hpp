// A hub whose answers a test scripts, over HTTP or HTTPS, and whose connections it can cut.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lab/hub_client.hpp"

namespace assay::test {

/// One call as the hub saw it.
struct hub_call {
    std::string method, target, body;
    bool operator==(const hub_call&) const = default;
};

/// What the hub does with a call.
struct hub_reply {
    int status = 200;
    std::string body = "{}";
    bool cut = false;  ///< the connection is closed in place of an answer
};

/// Listens on a free port of loopback; one thread, one connection at a time, one call a connection, as agents make
/// them.
class scripted_hub {
  public:
    using script = std::function<hub_reply(const hub_call&)>;
    /// `certificate_folder`: serve HTTPS with a certificate for localhost made there, as hub.pem.
    explicit scripted_hub(script answers, std::string certificate_folder = {});
    ~scripted_hub();
    scripted_hub(const scripted_hub&) = delete;
    scripted_hub& operator=(const scripted_hub&) = delete;

    /// "http://127.0.0.1:PORT", or "https://localhost:PORT".
    lab::hub_address address() const;
    /// All calls so far, in order, those of cut connections as well.
    std::vector<hub_call> calls() const;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Makes hub.pem (a self-signed certificate for localhost) and hub.key in the folder.
void make_certificate(const std::string& folder);

}  // namespace assay::test
