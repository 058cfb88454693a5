// The server: pages, API and live events on one address, on one thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "contract/server_config.hpp"
#include "core/blocking_executor.hpp"
#include "core/http_message.hpp"
#include "core/result.hpp"
#include "http/api.hpp"
#include "http/static_files.hpp"
#include "run/ports.hpp"

namespace assay::http {

/// Bounds of every connection and of all of them together.
struct http_limits {
    std::size_t header_bytes = 16 * 1024;  ///< request line and headers; beyond: 431
    std::size_t body_bytes = 1024 * 1024;  ///< beyond: 413
    std::size_t connections = 12000;       ///< beyond: closed at once
    std::size_t requests_per_connection = 1'000'000;
    std::chrono::milliseconds idle{60'000};       ///< between requests
    std::chrono::milliseconds header{10'000};     ///< from the first byte to the last header
    std::chrono::milliseconds body{30'000};       ///< from the last header to the last byte of the body
    std::chrono::milliseconds handler{30'000};    ///< beyond: 504
    std::chrono::milliseconds deferred{120'000};  ///< the same for a long poll
    std::chrono::milliseconds write{60'000};      ///< for one response, or one batch of live events
    std::chrono::milliseconds drain{5'000};       ///< how long stop() lets requests in progress end
    std::chrono::milliseconds event_poll{100};    ///< how often live events are looked for
    std::chrono::milliseconds event_keep_alive{15'000};
};

/// PEM files of a certificate chain and its key.
struct tls_files {
    std::string certificate_chain;
    std::string private_key;
};

/// What may change while the server runs (SIGHUP).
struct access_settings {
    std::vector<configured_token> tokens;  ///< needed for an address that is not loopback
    bool anonymous_read = false;
    double requests_per_second = 1000;     ///< of the API, for each caller
    double request_burst = 2000;
};

struct http_server_options {
    std::string listen_address = "127.0.0.1";  ///< an IP address
    std::uint16_t port = 0;                    ///< 0: any free one
    std::vector<static_mount> mounts;          ///< {"/", build/web}, {"/wasm/", ...}
    std::vector<std::string> allowed_hosts;  ///< names the Host header may hold besides loopback and the listen address
    std::vector<http_endpoint> endpoints;    ///< added by other rooms
    http_limits limits;
    std::optional<tls_files> tls;              ///< set: HTTPS only
    access_settings access;
};

/// Owns its socket, thread and connections. Without a store it serves pages and /healthz only, which is all that a
/// measurement from the command line needs.
class http_server final : public page_server {
  public:
    /// `store_work` runs the handlers that call the store; it and what `api` points to outlive the server.
    http_server(http_server_options options, api_context api, work_executor* store_work);
    ~http_server() override;

    /// Reads the served files, binds and begins to serve. io_error says which folder or address failed; an address that
    /// is not loopback without tokens is refused as invalid_argument.
    result<void> start();
    /// The port bound; 0 before start().
    std::uint16_t port() const;
    /// Stops accepting, lets requests in progress end within the drain limit, closes everything, joins the thread. Safe
    /// to call twice.
    void stop();
    /// Replaces tokens, limits and host names for the requests that follow. Safe from any thread.
    void reconfigure(access_settings access, std::vector<std::string> allowed_hosts);
    /// Reads the certificate and its key anew for the connections that follow; the old ones stay in use on an error, and
    /// invalid_argument says that this server speaks plain HTTP. Safe from any thread.
    result<void> reload_certificate(const tls_files& files);
    /// How many connections are open.
    std::size_t open_connections() const;

    /// "http://ADDRESS:PORT", where this machine reaches the pages: the listen address, and 127.0.0.1 where that is every
    /// address (https with TLS: a browser then wants a certificate it trusts, so measurements use a second server).
    std::string origin() const override;
    std::vector<std::pair<std::string, std::string>> asset_digests() const override;
    std::string publish_corpus(std::shared_ptr<const std::string> bytes, std::string_view sha256) override;

  private:
    struct implementation;
    std::unique_ptr<implementation> implementation_;
};

}  // namespace assay::http
