// `assay serve`: the API and the pages, and the loop that runs what is queued.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <iostream>

#include <spdlog/spdlog.h>

#include "application.hpp"
#include "run/run_queue.hpp"
#include "serve_settings.hpp"

namespace assay {
namespace {

/// Carries the API's news to the queue's thread.
class queue_listener final : public http::run_listener {
  public:
    queue_listener(boost::asio::any_io_executor executor, run_queue* queue)
        : executor_(std::move(executor)), queue_(queue) {}
    void run_queued(const run_id&) override {
        boost::asio::post(executor_, [queue = queue_] { queue->wake(); });
    }
    void cancel_requested(const run_id& id) override {
        boost::asio::post(executor_, [queue = queue_, id] { queue->cancel_running(id.text()); });
    }

  private:
    boost::asio::any_io_executor executor_;
    run_queue* queue_;
};

/// Reads the configuration again at every SIGHUP. What is wrong with it is logged, and the old one stays in force.
class reload_on_hangup {
  public:
    reload_on_hangup(application& app, const serve_options& options, const server_config& began_with)
        : app_(app), options_(options), began_with_(began_with), signals_(app.context(), SIGHUP) {
        wait();
    }
    void stop() { signals_.cancel(); }

  private:
    void wait() {
        signals_.async_wait([this](const boost::system::error_code& cancelled, int) {
            if (cancelled) return;
            reload();
            wait();
        });
    }
    void reload() {
        auto config = read_server_settings(options_);
        if (!config) return spdlog::error("the configuration stays as it was: {}", config.error().text());
        if (auto applied = app_.reconfigure(*config); !applied)
            return spdlog::error("the configuration stays as it was: {}", applied.error().text());
        set_up_logging(with_log_settings(options_.shared, *config));
        if (config->listen != began_with_.listen || config->store != began_with_.store ||
            config->agents_only != began_with_.agents_only || config->labels != began_with_.labels)
            spdlog::warn("address, store, labels and agents_only take effect when the service starts anew");
        spdlog::warn("the configuration was read again");
    }

    application& app_;
    const serve_options& options_;
    const server_config& began_with_;
    boost::asio::signal_set signals_;
};

}  // namespace

int command_serve(const serve_options& options) {
    auto config = read_server_settings(options);
    if (!config) return report_error(config.error());
    set_up_logging(with_log_settings(options.shared, *config));
    auto app = application::open(options.shared, *config);
    if (!app) return report_error(app.error());
    boost::asio::io_context& context = (*app)->context();
    run_queue queue(context.get_executor(), &(*app)->services(), config->labels);
    queue_listener listener(context.get_executor(), &queue);
    (*app)->listen_to_runs(&listener);

    reload_on_hangup reload(**app, options, *config);
    boost::asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](const boost::system::error_code& cancelled, int signal) {
        if (cancelled) return;
        spdlog::info("signal {}: no further run is taken, the running one is ended with a receipt", signal);
        queue.stop(true);
        reload.stop();
    });
    if (!config->agents_only)
        boost::asio::co_spawn(context, queue.serve(), [&](std::exception_ptr thrown) {
            if (thrown) spdlog::critical("the queue ended by a fault of its own");
            signals.cancel();
            reload.stop();
        });
    std::cout << "assay serves " << (*app)->server().origin() << "/  (stop with Ctrl-C)\n" << std::flush;
    context.run();
    (*app)->listen_to_runs(nullptr);
    (*app)->server().stop();
    return exit_verified;
}

}  // namespace assay
