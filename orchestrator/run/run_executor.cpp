#include "run/run_executor.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <map>

#include "core/with_deadline.hpp"
#include "run/progress_text.hpp"
#include "run/settling.hpp"

namespace assay {
namespace {

/// Between two looks at load and temperature: a look starts a command on macOS and must not be load itself.
constexpr auto settle_look_interval = std::chrono::seconds(2);
constexpr auto stop_poll_interval = std::chrono::milliseconds(100);

/// Ends when a stop is asked for; polled, because the signal may come from any thread.
task<void> wait_for_stop(std::shared_ptr<stop_signal> stop) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
    while (!stop->asked()) {
        timer.expires_after(stop_poll_interval);
        boost::system::error_code cancelled;
        co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, cancelled));
        if (cancelled) co_return;
    }
}

/// An event in a type of its own: Asio's operator|| would flatten a variant into its alternatives.
struct performed {
    run_event event;
};

/// One run's shell: owns the arms that are open, one of them in hand.
class run_shell {
  public:
    run_shell(run_services services, std::shared_ptr<stop_signal> stop)
        : services_(services), stop_(std::move(stop)), started_(services.time->steady_now()) {}

    double elapsed_ms() const {
        return std::chrono::duration<double, std::milli>(services_.time->steady_now() - started_).count();
    }

    run_event claimed() {
        return run_claimed{services_.environment->machine(), services_.environment->snapshot()};
    }

    /// Performs one action. An exception is the failure of an infrastructure: the arm's, not the process's.
    task<performed> perform(run_action action) {
        std::string failure;
        try {
            run_event event = co_await perform_action(std::move(action));
            co_return performed{std::move(event)};
        } catch (const std::exception& thrown) {
            failure = thrown.what();
        }
        co_return performed{operation_failed{{error_code::internal, "The action ended by an exception: " + failure}}};
    }

    /// The arm that the next action is for, by its position within the plan.
    void take_in_hand(int arm_index) { in_hand_ = arm_index; }

    task<run_event> close() {
        const auto known = hosts_.find(in_hand_);
        if (known == hosts_.end()) co_return arm_was_closed{};
        arm_closed closed = co_await known->second->close();
        hosts_.erase(in_hand_);
        co_return arm_was_closed{std::move(closed)};
    }

    task<void> close_all() {
        while (!hosts_.empty()) {
            take_in_hand(hosts_.begin()->first);
            co_await close();
        }
    }

    const std::shared_ptr<stop_signal>& stop() const { return stop_; }
    const run_services& services() const { return services_; }

  private:
    /// Throws where the machine speaks of an arm that was never opened: its bug, which perform() reports.
    arm_host& host() { return *hosts_.at(in_hand_); }

    task<run_event> perform_action(run_action action) {
        if (auto* open = std::get_if<open_arm>(&action)) co_return co_await perform_open(open->arm);
        if (std::holds_alternative<check_arm>(action)) co_return co_await perform_check();
        if (auto* prepare = std::get_if<prepare_arm>(&action)) co_return co_await perform_prepare(prepare->config);
        if (auto* start = std::get_if<start_phase>(&action)) co_return co_await perform_start(start->phase);
        if (auto* wait = std::get_if<await_arm_event>(&action)) co_return co_await perform_wait(wait->limit);
        if (auto* pause = std::get_if<pause_between_arms>(&action)) {
            co_await sleep_for(pause->duration);
            co_return pause_ended{};
        }
        if (auto* settle = std::get_if<settle_machine>(&action)) co_return co_await perform_settle(std::move(*settle));
        co_return operation_failed{{error_code::internal, "an action that the shell does not know", {}, {}, {}}};
    }

    task<run_event> perform_settle(settle_machine wanted) {
        const auto deadline = services_.time->steady_now() + wanted.limit;
        for (;;) {
            environment_snapshot now = services_.environment->snapshot();
            const bool settled = machine_is_settled(wanted.at_start, now, wanted.logical_cores);
            if (settled || services_.time->steady_now() >= deadline) co_return machine_was_settled{settled, std::move(now)};
            co_await sleep_for(settle_look_interval);
        }
    }

    task<run_event> perform_open(std::string arm) {
        auto made = services_.launcher->make_host(arm, services_.pages->origin());
        if (!made) co_return operation_failed{made.error()};
        auto& kept = hosts_[in_hand_] = std::move(*made);
        auto opened = co_await kept->open();
        if (!opened) co_return operation_failed{opened.error()};
        co_return arm_was_opened{std::move(*opened), services_.environment->snapshot()};
    }

    task<run_event> perform_check() {
        auto adapter = co_await host().adapter();
        if (!adapter) co_return operation_failed{adapter.error()};
        auto facts = co_await host().facts();
        if (!facts) co_return operation_failed{facts.error()};
        co_return arm_was_checked{std::move(*adapter), facts->page, services_.environment->snapshot()};
    }

    task<run_event> perform_prepare(arm_config config) {
        auto prepared = co_await host().prepare(std::move(config));
        if (!prepared) co_return operation_failed{prepared.error()};
        co_return arm_was_prepared{std::move(*prepared)};
    }

    task<run_event> perform_start(arm_phase phase) {
        auto started = co_await host().start(phase);
        if (!started) co_return operation_failed{started.error()};
        co_return phase_was_started{};
    }

    task<run_event> perform_wait(std::chrono::milliseconds limit) {
        auto event = co_await host().next_event(limit);
        if (!event) co_return operation_failed{event.error()};
        co_return arm_said{std::move(*event)};
    }

    run_services services_;
    std::shared_ptr<stop_signal> stop_;
    std::chrono::steady_clock::time_point started_;
    std::map<int, std::unique_ptr<arm_host>> hosts_;  // by position within the plan
    int in_hand_ = -1;
};

void publish(const run_shell& shell, const run_fsm& machine, const run_event& event) {
    if (!shell.services().progress) return;
    for (run_progress& progress : progress_of(machine, event)) shell.services().progress->publish(std::move(progress));
}

/// Performs an action, or answers with the stop that came first.
task<run_event> perform_or_stop(run_shell& shell, run_action action) {
    using namespace boost::asio::experimental::awaitable_operators;
    // Named, since g++ 12 destroys temporaries of a co_await expression twice.
    task<performed> work = shell.perform(std::move(action));
    task<void> watch = wait_for_stop(shell.stop());
    auto first = co_await (std::move(work) || std::move(watch));
    if (first.index() == 0) co_return std::get<0>(std::move(first)).event;
    const bool interrupted = shell.stop()->interrupted();
    co_return cancel_asked{interrupted ? "The service was asked to stop" : "Cancelled by request", interrupted};
}

}  // namespace

task<run_outcome> execute_run(run_services services, run_settings settings, std::shared_ptr<stop_signal> stop,
                              std::function<void(const run_fsm&)> on_step) {
    run_fsm machine(std::move(settings));
    run_shell shell(services, stop);
    run_event event = shell.claimed();
    run_step reported = machine.step();
    for (;;) {
        run_action action = machine.resume(event, shell.elapsed_ms());
        shell.take_in_hand(machine.arm_index());
        publish(shell, machine, event);
        if (machine.step() != reported) {
            reported = machine.step();
            if (on_step) on_step(machine);
        }
        if (std::holds_alternative<seal_receipt>(action)) {
            co_await shell.close_all();
            // The caller seals; the machine only needs to hear that its document is complete.
            event = receipt_was_sealed{};
            continue;
        }
        if (auto* finish = std::get_if<finish_run>(&action)) {
            co_await shell.close_all();
            co_return run_outcome{std::move(machine.document()), finish->state};
        }
        // Closing is never cut short: it is what a stop leads to.
        if (std::holds_alternative<close_arm>(action))
            event = co_await shell.close();
        else
            event = co_await perform_or_stop(shell, std::move(action));
    }
}

}  // namespace assay
