// What `assay run`, `assay serve` and `assay doctor` share, built once and owned by main: the home, the key, the store,
// the page server, the readers, the launcher, the gate.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "command_options.hpp"
#include "contract/server_config.hpp"
#include "core/blocking_executor.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "http/http_server.hpp"
#include "http/scheduler.hpp"
#include "lab/lab_hub.hpp"
#include "notify/run_notifier.hpp"
#include "retention_loop.hpp"
#include "run/measurement.hpp"
#include "store/queue_watcher.hpp"

namespace assay {

/// Files that lie beside the binary (or where --web-root says).
struct installed_files {
    std::string web;       ///< share/assay/web
    std::string policies;  ///< share/assay/policies
};
result<installed_files> find_installed_files(const shared_options& options);

/// "HOST:PORT" of --listen.
struct listen_address {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
};
result<listen_address> parse_listen(const std::string& text);

/// Sets the process's logger: standard error, text or JSON lines. Safe to call again.
void set_up_logging(const shared_options& options);

/// Everything a measurement needs. Members are destroyed in the reverse order, so that nothing outlives what it uses.
class application {
  public:
    /// Opens the home, the key, the store, and starts the page server. `listen` is the server's address; the command line
    /// uses a free port of loopback. `serve_api` makes the server answer the API as well.
    static result<std::unique_ptr<application>> open(const shared_options& options, const std::optional<std::string>& store,
                                                     const listen_address& listen, bool serve_api);
    /// The same for `assay serve`: the API, with all that `config` says of it.
    static result<std::unique_ptr<application>> open(const shared_options& options, const server_config& config);
    ~application();

    /// Puts a configuration that was read again into force: tokens, limits, host names, certificate. The address and the
    /// store stay as they are. On an error nothing has changed.
    result<void> reconfigure(const server_config& config);

    measurement_services& services() { return services_; }
    http::http_server& server() { return *server_; }
    run_store& store() { return *store_; }
    boost::asio::io_context& context() { return context_; }
    const home_layout& home() const { return services_.home; }
    random_source& random() { return random_; }
    const clock& time() const { return clock_; }
    /// Set before the server starts to answer; told of queued and cancelled runs.
    void listen_to_runs(http::run_listener* listener);

  private:
    application();
    static result<std::unique_ptr<application>> open(const shared_options& options, const std::optional<std::string>& store,
                                                     const listen_address& listen, const server_config* config);

    real_clock clock_;
    system_random random_;
    boost::asio::io_context context_{1};
    std::unique_ptr<receipt_recorder> recorder_;
    std::unique_ptr<environment_reader> environment_;
    std::unique_ptr<run_store> store_;
    std::unique_ptr<blocking_executor> store_thread_;
    http::progress_ring progress_;
    struct forwarding_listener;
    std::unique_ptr<forwarding_listener> listener_;
    std::unique_ptr<document_store> documents_;
    std::unique_ptr<http::schedule_keeper> schedules_;
    std::unique_ptr<http::schedule_loop> schedule_loop_;  ///< ends before the store's thread
    std::unique_ptr<notify::run_notifier> notifier_;  ///< between the runs' events and progress_; refers to documents_
    std::unique_ptr<lab_store> lab_store_;
    std::unique_ptr<retention_loop> retention_;
    std::unique_ptr<lab::lab_hub> hub_;            ///< the server's endpoints refer to it
    std::unique_ptr<queue_watcher> queue_watcher_;  ///< of a PostgreSQL store
    std::unique_ptr<http::http_server> server_;
    /// Pages alone, plain and on loopback, for the measured browser, where the server's own address does not suit it.
    std::unique_ptr<http::http_server> page_server_;
    std::unique_ptr<arm_launcher> launcher_;
    measurement_services services_;
};

}  // namespace assay
