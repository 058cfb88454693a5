#include "run/measurement.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "analysis/paired_statistics.hpp"
#include "analysis/verdict.hpp"
#include "contract/progress.hpp"
#include "core/with_deadline.hpp"
#include "run/run_log.hpp"

namespace assay {
namespace {

/// Blocking pieces of work as plain types: no capturing lambda stands in a co_await expression.
struct write_phase {
    run_store* store;
    run_id id;
    std::int64_t token;
    std::string phase;
    result<void> operator()() { return store->set_phase(id, token, phase); }
};
struct extend_lease {
    run_store* store;
    run_id id;
    std::int64_t token;
    result<void> operator()() { return store->heartbeat(id, token, run_lease); }
};
struct read_cancel {
    run_store* store;
    run_id id;
    result<bool> operator()() { return store->cancel_requested(id); }
};
struct record_and_finish {
    const receipt_recorder* recorder;
    run_store* store;
    receipt document;
    run_id id;
    std::int64_t token;
    run_state state;
    result<recorded_receipt> operator()() {
        auto recorded = recorder->record(std::move(document));
        if (!recorded) return recorded;
        auto finished = store->finish(id, token, state, recorded->summary, recorded->file_bytes);
        if (!finished) return finished.error();
        return recorded;
    }
};
struct finish_recorded {
    const receipt_recorder* recorder;
    run_store* store;
    run_id id;
    std::int64_t token;
    /// Ends the run with the receipt that it has already; nothing where it has none.
    result<std::optional<recorded_receipt>> operator()() {
        auto recorded = recorder->recorded_for(id);
        if (!recorded || !*recorded) return recorded;
        auto finished = store->finish(id, token, end_state_of((*recorded)->document), (*recorded)->summary,
                                      (*recorded)->file_bytes);
        if (!finished) return finished.error();
        return recorded;
    }
    /// The state that the run ended in, read off its receipt.
    static run_state end_state_of(const receipt& document) {
        if (document.verdict.result != verdict_result::failed) return run_state::done;
        for (const auto& why : document.verdict.reasons) {
            if (why.code == "run-cancelled") return run_state::cancelled;
            if (why.code == "run-interrupted") return run_state::interrupted;
        }
        return run_state::failed;
    }
};
struct end_row {
    run_store* store;
    run_id id;
    std::string why;
    result<void> operator()() { return store->end_without_receipt(id, run_state::failed, why); }
};
struct read_running {
    run_store* store;
    machine_id machine;
    result<std::vector<run_row>> operator()() { return store->running_on(machine); }
};

/// Extends the lease and looks for a cancel, until it is stopped. Between looks it only sleeps; a look is one short
/// database call on another thread.
task<void> keep_lease(measurement_services* services, run_row row, std::shared_ptr<stop_signal> stop) {
    constexpr auto look_interval = std::chrono::milliseconds(500);
    constexpr int looks_a_heartbeat = 40;
    const run_id id(row.id);
    for (int look = 1;; ++look) {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, look_interval);
        boost::system::error_code cancelled;
        co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, cancelled));
        if (cancelled) co_return;
        read_cancel look_for_cancel{services->store, id};
        auto asked = co_await run_blocking(services->store_thread, std::move(look_for_cancel));
        if (asked && *asked) stop->cancel();
        if (look % looks_a_heartbeat != 0) continue;
        extend_lease extend{services->store, id, row.fencing_token};
        auto extended = co_await run_blocking(services->store_thread, std::move(extend));
        if (!extended && extended.error().code == error_code::conflict) stop->interrupt();
    }
}

result<run_settings> make_settings(measurement_services& services, const run_row& row, const std::string& corpus_file) {
    auto request = parse_run_request(row.request_text);
    if (!request) return request.error();
    run_settings settings;
    settings.id = run_id(row.id);
    settings.receipt = receipt_id(make_sortable_id(*services.run.time, *services.random));
    settings.created_at = format_utc(services.run.time->now());
    settings.request = std::move(*request);
    settings.default_threads = services.default_threads;
    settings.silence_limit = services.silence_limit;
    settings.assets = services.run.pages->asset_digests();
    auto gate = services.gate(settings.request);
    if (!gate) return gate.error();
    settings.gate = std::move(*gate);
    const auto min_bytes = static_cast<std::size_t>(settings.request.model.ctx) + 1;
    if (!corpus_file.empty() || settings.request.corpus != "builtin") {
        auto text = corpus_file.empty() ? find_registered_corpus(services.home, settings.request.corpus, min_bytes)
                                        : read_corpus_file(corpus_file, min_bytes);
        if (!text) return text.error();
        settings.corpus_sha256 = text->sha256;
        settings.corpus_url = services.run.pages->publish_corpus(text->bytes, text->sha256);
    }
    return settings;
}

/// The document of a run that never got as far as its machine: what was asked for, and why nothing came of it.
receipt document_without_arms(measurement_services& services, const run_row& row, reason why) {
    receipt document;
    document.id = make_sortable_id(*services.run.time, *services.random);
    document.run_id = row.id;
    document.created_at = format_utc(services.run.time->now());
    if (auto request = parse_run_request(row.request_text)) document.request = std::move(*request);
    document.model = {document.request.model, parameter_count(document.request.model),
                      flops_per_step(document.request.model)};
    document.machine = services.run.environment->machine();
    // Judged as every other receipt, so that its reasons are those that a verifier finds.
    fill_figures(document);
    document.verdict = judge(document, document.analysis, gate_outcome{}, budgets{}, {std::move(why)});
    return document;
}

void publish_end(measurement_services& services, const recorded_receipt& recorded, run_state state) {
    if (services.run.progress == nullptr) return;
    progress_state last;
    last.run = recorded.document.run_id;
    last.state = run_state_name(state);
    last.receipt_id = recorded.document.id;
    last.verdict = verdict_name(recorded.document.verdict.result);
    services.run.progress->publish({last.run, "done", progress_text(last)});
}

/// One attempt to store; a lost database, which throws, is an error like a full disk here.
task<result<recorded_receipt>> try_to_record(measurement_services* services, record_and_finish record) {
    std::string failure;
    try {
        auto recorded = co_await run_blocking(services->store_thread, std::move(record));
        co_return recorded;
    } catch (const std::exception& thrown) {
        failure = thrown.what();
    }
    co_return error{error_code::unavailable, failure};
}

/// Files and stores a finished run. A disk that is full or a database that is away may come back: the document is kept
/// in memory and tried again, until the service is asked to stop or the bound is met; then the row says what happened.
task<result<recorded_receipt>> keep_trying(measurement_services* services, record_and_finish record,
                                           std::shared_ptr<stop_signal> stop) {
    constexpr auto pause = std::chrono::seconds(2);
    constexpr int max_attempts = 300;
    for (int attempt = 1;; ++attempt) {
        record_and_finish copy = record;
        auto recorded = co_await try_to_record(services, std::move(copy));
        if (recorded) co_return recorded;
        const error_code code = recorded.error().code;
        const bool may_pass = code == error_code::io_error || code == error_code::unavailable;
        if (!may_pass || attempt == max_attempts || stop->interrupted()) {
            end_row end{services->store, record.id, "Its receipt could not be stored: " + recorded.error().text()};
            try {
                (void)co_await run_blocking(services->store_thread, std::move(end));
            } catch (const std::exception& thrown) {
                log_of_run(record.id.text())->error("its end could not be stored: {}", thrown.what());
            }
            co_return recorded;
        }
        if (attempt == 1)
            log_of_run(record.id.text())
                ->error("its receipt cannot be stored yet, trying again: {}", recorded.error().text());
        co_await sleep_for(pause);
    }
}

task<run_outcome> execute_with_lease(measurement_services* services, run_settings settings, run_row row,
                                     std::shared_ptr<stop_signal> stop) {
    using namespace boost::asio::experimental::awaitable_operators;
    std::function<void(const run_fsm&)> on_step = [services, row](const run_fsm& machine) {
        // Fire and forget on the store's thread: a phase that could not be written is only a label less.
        services->store_thread->submit([work = write_phase{services->store, run_id(row.id), row.fencing_token,
                                                           std::string(run_step_name(machine.step()))}]() mutable {
            try {
                (void)work();
            } catch (const std::exception& failure) {
                log_of_run(work.id.text())->warn("its phase could not be stored: {}", failure.what());
            }
        });
    };
    task<run_outcome> work = execute_run(services->run, std::move(settings), stop, std::move(on_step));
    task<void> lease = keep_lease(services, std::move(row), stop);
    auto outcome = co_await (std::move(work) || std::move(lease));
    co_return std::get<0>(std::move(outcome));
}

}  // namespace

task<result<recorded_receipt>> measure(measurement_services* services, run_row row, std::shared_ptr<stop_signal> stop,
                                       std::string corpus_file) {
    run_outcome outcome;
    auto settings = make_settings(*services, row, corpus_file);
    if (settings) {
        outcome = co_await execute_with_lease(services, std::move(*settings), row, stop);
    } else {
        const error& cause = settings.error();
        outcome.document =
            document_without_arms(*services, row, {"run-" + std::string(code_name(cause.code)), cause.text(), {}});
        outcome.state = run_state::failed;
    }
    const run_state state = outcome.state;
    record_and_finish record{services->recorder, services->store,   std::move(outcome.document),
                             run_id(row.id),     row.fencing_token, state};
    auto recorded = co_await keep_trying(services, std::move(record), stop);
    if (recorded) publish_end(*services, *recorded, state);
    co_return recorded;
}

task<result<int>> seal_interrupted_runs(measurement_services* services) {
    read_running read{services->store, machine_id(services->recorder->identity().machine_id)};
    auto rows = co_await run_blocking(services->store_thread, std::move(read));
    if (!rows) co_return rows.error();
    for (run_row& row : *rows) {
        // The process may have died after the receipt was filed: a second one of the same run would contradict it.
        finish_recorded known{services->recorder, services->store, run_id(row.id), row.fencing_token};
        auto finished = co_await run_blocking(services->store_thread, std::move(known));
        if (!finished) co_return finished.error();
        if (*finished) {
            log_of_run(row.id)->warn("its process ended with the receipt {} on the disk", (*finished)->document.id);
            continue;
        }
        receipt document = document_without_arms(
            *services, row,
            {"run-interrupted",
             "The process that measured ended in the middle of the run, in the phase '" + row.phase + "'",
             {{"phase", row.phase}, {"started_at", row.started_at.value_or("")}}});
        record_and_finish record{services->recorder, services->store,   std::move(document),
                                 run_id(row.id),     row.fencing_token, run_state::interrupted};
        auto recorded = co_await run_blocking(services->store_thread, std::move(record));
        if (!recorded) co_return recorded.error();
        log_of_run(row.id)->warn("interrupted by the end of an earlier process; its receipt is {}",
                                 recorded->document.id);
    }
    co_return static_cast<int>(rows->size());
}

}  // namespace assay
