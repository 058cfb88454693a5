// `assay agent`: measures for a hub. The loop is that of `assay serve`; the queue is the hub's.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <spdlog/spdlog.h>

#include "application.hpp"
#include "contract/json_writer.hpp"
#include "lab/hub_run_store.hpp"
#include "lab/progress_forwarder.hpp"
#include "receipt/atomic_file.hpp"
#include "receipt/digest.hpp"
#include "run/run_queue.hpp"

namespace assay {
namespace {

constexpr std::size_t max_small_file_bytes = 1 << 16;

/// The certificates of this machine's key rotations, as `assay keygen --rotate` left them.
std::vector<std::string> rotations_of(const std::filesystem::path& home) {
    std::vector<std::string> certificates;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(home / "trust", none)) {
        if (entry.path().extension() != ".rotation") continue;
        if (auto text = read_whole_file(entry.path(), max_small_file_bytes)) certificates.push_back(std::move(*text));
    }
    return certificates;
}

/// The hub's token: of --token-file, of --token, or of ASSAY_TOKEN.
result<std::string> token_of(const agent_options& options) {
    if (options.token_file) {
        auto text = read_whole_file(*options.token_file, max_small_file_bytes);
        if (!text) return error{error_code::invalid_argument, text.error().message, "--token-file"};
        while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
        if (text->empty() || text->find_first_of(" \t\n") != std::string::npos)
            return error{error_code::invalid_argument, *options.token_file + " does not hold one token",
                         "--token-file"};
        return text;
    }
    const char* variable = std::getenv("ASSAY_TOKEN");
    return options.token.value_or(variable == nullptr ? "" : variable);
}

machine_registration describe(const machine_identity& identity, const machine_facts& facts,
                              const agent_options& options) {
    machine_registration self;
    self.machine_id = identity.machine_id;
    self.public_key = base64(identity.key.public_half().bytes());
    self.name = options.name.value_or(facts.hostname);
    self.labels = options.labels;
    json_object out;
    out.add("os", facts.os).add("os_version", facts.os_version).add("architecture", facts.architecture);
    out.add("cpu_model", facts.cpu_model)
        .add("logical_cores", facts.logical_cores)
        .add("memory_bytes", facts.memory_bytes);
    out.add("model_identifier", facts.model_identifier).add("assay_version", facts.assay_version);
    self.facts_text = out.text();
    return self;
}

}  // namespace

int command_agent(const agent_options& options) {
    set_up_logging(options.shared);
    const auto hub = lab::parse_hub_url(options.hub);
    if (!hub) return report_error(hub.error());
    const auto token = token_of(options);
    if (!token) return report_error(token.error());
    auto app = application::open(options.shared, std::nullopt, {}, false);
    if (!app) return report_error(app.error());
    auto box = lab::outbox::open((*app)->home().root);
    if (!box) return report_error(box.error());
    measurement_services& services = (*app)->services();

    lab::hub_client client(*hub, *token, options.ca_file), event_client(*hub, *token, options.ca_file);
    lab::progress_forwarder events(&event_client);
    auto self = describe(services.recorder->identity(), services.run.environment->machine(), options);
    self.rotations = rotations_of((*app)->home().root);
    lab::hub_run_store queue_of_hub(&client, std::move(*box), std::move(self), (*app)->time());
    services.store = &queue_of_hub;
    services.run.progress = &events;
    blocking_executor hub_thread;
    services.store_thread = &hub_thread;

    boost::asio::io_context& context = (*app)->context();
    run_queue queue(context.get_executor(), &services, options.labels);
    boost::asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](const boost::system::error_code& cancelled, int signal) {
        if (cancelled) return;
        spdlog::info("signal {}: no further run is taken, the running one is ended with a receipt", signal);
        queue.stop(true);
        client.interrupt();
    });
    boost::asio::co_spawn(context, queue.serve(), [&](std::exception_ptr thrown) {
        if (thrown) spdlog::critical("the agent's loop ended by a fault of its own");
        signals.cancel();
    });
    std::cout << "assay agent " << services.recorder->identity().machine_id << " works for " << options.hub
              << "  (stop with Ctrl-C)\n"
              << std::flush;
    context.run();
    return exit_verified;
}

}  // namespace assay
