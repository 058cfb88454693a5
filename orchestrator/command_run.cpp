// `assay run`: one measurement on this machine, from the options to the printed summary.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "analysis/summary.hpp"
#include "application.hpp"
#include "client_receipt.hpp"
#include "progress_bar.hpp"
#include "run/measurement_lock.hpp"

namespace assay {
namespace {


std::vector<std::string> split_arms(const std::string& text) {
    std::vector<std::string> out(1);
    for (const char letter : text) {
        if (letter == ',')
            out.emplace_back();
        else
            out.back() += letter;
    }
    return out;
}

result<int> whole_number(const std::string& text, const std::string& flag) {
    try {
        std::size_t used = 0;
        const int value = std::stoi(text, &used);
        if (used == text.size()) return value;
    } catch (const std::exception&) {
        // Told below, with the flag's name.
    }
    return error{error_code::invalid_argument, "'" + text + "' is not a whole number", flag};
}

result<run_request> request_of(const run_options& options) {
    run_request request;
    request.preset = options.preset;
    if (!options.model.empty()) {
        request.preset.reset();
        int* const fields[] = {&request.model.layers, &request.model.d_model, &request.model.ctx, &request.model.batch,
                               &request.model.heads};
        for (std::size_t at = 0; at < std::size(fields); ++at) {
            auto value = whole_number(options.model[at], "--model");
            if (!value) return value.error();
            *fields[at] = *value;
        }
    }
    request.steps = options.steps;
    request.warmup = options.warmup;
    request.arms = split_arms(options.arms);
    if (options.quadruples == "auto") {
        request.quadruples.automatic = true;
    } else {
        auto count = whole_number(options.quadruples, "--quadruples");
        if (!count) return count.error();
        request.quadruples.count = *count;
    }
    const char* seed_end = options.seed.data() + options.seed.size();
    const auto [rest, problem] = std::from_chars(options.seed.data(), seed_end, request.seed);
    if (problem != std::errc() || rest != seed_end)
        return error{error_code::invalid_argument, "'" + options.seed + "' is not a seed", "--seed",
                     "Give a whole number from 0 to 18446744073709551615."};
    request.policy = options.policy;
    request.environment_policy = options.environment_policy;
    request.threads = options.threads;
    request.allow_unqualified = options.allow_unqualified;
    request.randomise_order = !options.fixed_order;
    request.label = options.label;
    request.pipelined_steps = options.pipelined_steps;
    request.slice_steps = options.slice_steps;
    request.cool_down_seconds = options.cool_down_seconds;
    request.settle_seconds = options.settle_seconds;
    if (options.warmup_bound) request.warmup_until_stable.emplace().bound = *options.warmup_bound;
    request.repeat_optimizer = options.repeat_optimizer;
    auto checked = validate(request);
    if (!checked) return checked.error();
    return request;
}

int exit_code_of(const receipt& document) {
    switch (document.verdict.result) {
        case verdict_result::verified: return exit_verified;
        case verdict_result::unqualified:
            return document.request.allow_unqualified ? exit_verified : exit_refused;
        case verdict_result::refused: return exit_refused;
        case verdict_result::inconclusive:
        case verdict_result::invalid: return exit_inconclusive;
        case verdict_result::failed: return exit_failed;
    }
    return exit_failed;
}

/// Adds the run and takes it at once; both on the store's thread.
struct enqueue_and_claim {
    run_store* store;
    run_row row;
    machine_id machine;
    result<run_row> operator()() {
        auto queued = store->enqueue(row);
        if (!queued) return queued;
        return store->claim_run(run_id(queued->id), machine, run_lease);
    }
};

task<result<recorded_receipt>> run_locally(application* app, run_request request, std::string corpus_file,
                                           std::shared_ptr<stop_signal> stop) {
    measurement_services& services = app->services();
    std::function<void()> on_wait = [] {
        std::cerr << "assay: another measurement runs on this machine; waiting for its end\n";
    };
    auto lock = co_await acquire_measurement_lock(services.home.measurement_lock(), stop, std::move(on_wait));
    if (!lock) co_return lock.error();
    auto sealed = co_await seal_interrupted_runs(&services);
    if (!sealed) co_return sealed.error();
    run_row row;
    row.id = make_sortable_id(app->time(), app->random());
    row.request_text = run_request_text(request);
    row.label = request.label;
    row.created_at = format_utc(app->time().now());
    enqueue_and_claim take{services.store, std::move(row), machine_id(services.recorder->identity().machine_id)};
    auto claimed = co_await run_blocking(services.store_thread, std::move(take));
    if (!claimed) co_return claimed.error();
    run_row claimed_row = std::move(*claimed);
    co_return co_await measure(&services, std::move(claimed_row), stop, std::move(corpus_file));
}

result<void> write_output(const std::string& file, const std::string& bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out)
        return error{error_code::io_error, "The receipt could not be written to '" + file + "'", "--output",
                     "It is kept in the home all the same."};
    return {};
}

bool wants_colour() {
    return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

/// Measures at a server; the receipt is fetched, shown and written as one of this machine is.
int run_remotely(const run_options& options, const run_request& request) {
    if (!options.corpus.empty())
        return report_error({error_code::invalid_argument, "A server takes a corpus by its registered name only", "--corpus"});
    const auto done = run_on_server(request, options.remote);
    if (!done) return report_error(done.error());
    if (options.output)
        if (auto written = write_output(*options.output, done->file_bytes); !written) return report_error(written.error());
    if (options.json)
        std::cout << receipt_text(done->document) << '\n';
    else
        std::cout << summary_text(done->document, wants_colour()) << "\nsee it    " << done->server_url << "/receipts/"
                  << done->document.id << '\n';
    return exit_code_of(done->document);
}

/// `home` is the one that was asked for: the server that shows this receipt must be given the same.
void print_summary(const recorded_receipt& recorded, const std::optional<std::string>& home) {
    std::cout << summary_text(recorded.document, wants_colour()) << "\nreceipt   " << recorded.path.string()
              << "\ncheck it  assay verify " << recorded.path.string()
              << "\nsee it    assay serve" << (home ? " --home " + *home : "") << "   then open http://127.0.0.1:8080/receipts/"
              << recorded.document.id << '\n';
}

}  // namespace

int command_run(const run_options& options) {
    set_up_logging(options.shared);
    auto request = request_of(options);
    if (!request) return report_error(request.error());
    if (options.on_server) return run_remotely(options, *request);
    auto app = application::open(options.shared, options.store, listen_address{}, false);
    if (!app) return report_error(app.error());
    if (!options.corpus.empty()) {
        auto text = read_corpus_file(options.corpus, static_cast<std::size_t>(request->model.ctx) + 1);
        if (!text) return report_error(text.error());
        request->corpus = text->sha256;
    }
    auto gate = (*app)->services().gate(*request);
    if (!gate) return report_error(gate.error());

    std::optional<progress_printer> printer;
    if (isatty(STDERR_FILENO) != 0) (*app)->services().run.progress = &printer.emplace(std::cerr, true);
    boost::asio::io_context& context = (*app)->context();
    auto stop = std::make_shared<stop_signal>();
    boost::asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([stop](const boost::system::error_code& cancelled, int) {
        if (!cancelled) stop->cancel();
    });
    std::optional<result<recorded_receipt>> outcome;
    std::string failure;
    boost::asio::co_spawn(context, run_locally(app->get(), *request, options.corpus, stop),
                          [&](std::exception_ptr thrown, result<recorded_receipt> recorded) {
                              if (thrown) {
                                  try {
                                      std::rethrow_exception(thrown);
                                  } catch (const std::exception& what) {
                                      failure = what.what();
                                  }
                              } else {
                                  outcome.emplace(std::move(recorded));
                              }
                              signals.cancel();
                          });
    context.run();
    (*app)->services().run.progress = nullptr;
    printer.reset();
    if (!outcome) return report_error({error_code::internal, "The run ended by a fault of its own: " + failure});
    if (!*outcome) return report_error(outcome->error());
    const recorded_receipt& recorded = **outcome;
    if (options.output)
        if (auto written = write_output(*options.output, recorded.file_bytes); !written) return report_error(written.error());
    if (options.json)
        std::cout << receipt_text(recorded.document) << '\n';
    else
        print_summary(recorded, options.shared.home);
    return exit_code_of(recorded.document);
}

}  // namespace assay
