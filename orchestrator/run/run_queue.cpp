#include "run/run_queue.hpp"

#include <spdlog/spdlog.h>

#include "core/with_deadline.hpp"
#include "run/measurement_lock.hpp"
#include "run/run_log.hpp"

namespace assay {
namespace {

/// How long a queued run that nobody announced (another process added it) waits at most.
constexpr auto poll_interval = std::chrono::seconds(1);
constexpr auto pause_after_failure = std::chrono::seconds(2);

struct claim_next {
    run_store* store;
    machine_id machine;
    std::vector<std::string> labels;
    result<std::optional<run_row>> operator()() { return store->claim(machine, labels, run_lease); }
};

}  // namespace

run_queue::run_queue(boost::asio::any_io_executor executor, measurement_services* services,
                     std::vector<std::string> labels)
    : services_(services),
      labels_(std::move(labels)),
      wake_timer_(executor),
      lock_wait_(std::make_shared<stop_signal>()) {}

void run_queue::wake() {
    wake_timer_.cancel();
}

void run_queue::stop(bool interrupt_running) {
    stopping_ = true;
    lock_wait_->interrupt();
    if (running_ && interrupt_running) running_->interrupt();
    wake_timer_.cancel();
}

void run_queue::cancel_running(const std::string& run) {
    if (running_ && running_id_ == run) running_->cancel();
}

task<void> run_queue::wait_for_work() {
    wake_timer_.expires_after(poll_interval);
    boost::system::error_code ignored;
    co_await wake_timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

task<void> run_queue::serve() {
    while (!stopping_) {
        bool took = false;
        bool failed = false;
        try {
            took = co_await take_one();
        } catch (const std::exception& failure) {
            spdlog::error("the queue could not be served: {}; trying again", failure.what());
            failed = true;
        }
        if (stopping_) break;
        if (failed)
            co_await sleep_for(pause_after_failure);
        else if (!took)
            co_await wait_for_work();
    }
}

task<bool> run_queue::take_one() {
    auto lock = measurement_lock::try_acquire(services_->home.measurement_lock());
    if (!lock) throw error_exception(lock.error());
    if (!*lock) co_return false;
    if (!recovered_) {
        auto sealed = co_await seal_interrupted_runs(services_);
        if (!sealed) throw error_exception(sealed.error());
        recovered_ = true;
    }
    const machine_id machine(services_->recorder->identity().machine_id);
    claim_next next{services_->store, machine, labels_};
    auto claimed = co_await run_blocking(services_->store_thread, std::move(next));
    if (!claimed) throw error_exception(claimed.error());
    if (!*claimed) co_return false;
    run_row row = std::move(**claimed);
    running_ = std::make_shared<stop_signal>();
    running_id_ = row.id;
    if (stopping_) running_->interrupt();
    log_of_run(row.id)->info("started");
    std::string no_corpus_file;
    auto recorded = co_await measure(services_, std::move(row), running_, std::move(no_corpus_file));
    running_.reset();
    if (recorded)
        log_of_run(running_id_)
            ->info("{}, receipt {}", verdict_name(recorded->document.verdict.result), recorded->document.id);
    else
        log_of_run(running_id_)->error("its receipt could not be stored: {}", recorded.error().text());
    running_id_.clear();
    co_return true;
}

}  // namespace assay
