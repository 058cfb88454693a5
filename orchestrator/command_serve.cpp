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

}  // namespace

int command_serve(const serve_options& options) {
    set_up_logging(options.shared);
    auto listen = parse_listen(options.listen);
    if (!listen) return report_error(listen.error());
    auto app = application::open(options.shared, options.store, *listen, true);
    if (!app) return report_error(app.error());
    boost::asio::io_context& context = (*app)->context();
    run_queue queue(context.get_executor(), &(*app)->services(), {});
    queue_listener listener(context.get_executor(), &queue);
    (*app)->listen_to_runs(&listener);

    boost::asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](const boost::system::error_code& cancelled, int signal) {
        if (cancelled) return;
        spdlog::info("signal {}: no further run is taken, the running one is ended with a receipt", signal);
        queue.stop(true);
    });
    if (!options.agents_only)
        boost::asio::co_spawn(context, queue.serve(), [&](std::exception_ptr thrown) {
            if (thrown) spdlog::critical("the queue ended by a fault of its own");
            signals.cancel();
        });
    std::cout << "assay serves " << (*app)->server().origin() << "/  (stop with Ctrl-C)\n" << std::flush;
    context.run();
    (*app)->listen_to_runs(nullptr);
    (*app)->server().stop();
    return exit_verified;
}

}  // namespace assay
