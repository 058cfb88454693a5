// How a run ends: failures, cancels, events out of place, and the analysis that every one of them leads to.
#include <algorithm>
#include <utility>

#include "analysis/paired_statistics.hpp"
#include "analysis/verdict.hpp"
#include "run/run_fsm.hpp"

namespace assay {
namespace {

constexpr std::size_t max_errors_an_arm = 20;
/// Failures of the run itself carry this before their code, so that they are told from the gate's reasons.
constexpr std::string_view run_code_prefix = "run-";
constexpr std::string_view last_lines_heading = "\nlast lines:";

}  // namespace

void run_fsm::note_error(std::string text) {
    if (arm().errors.size() < max_errors_an_arm) arm().errors.push_back(std::move(text));
}

run_action run_fsm::on(const operation_failed& event) {
    const error& cause = event.cause;
    const std::string code = cause.reason.empty() ? std::string(code_name(cause.code)) : cause.reason;
    if (step_ == run_step::queued || step_ == run_step::sealed) {
        document_.notes.push_back(code + ": " + cause.text());
        return finish_run{run_state::failed};
    }
    return fail_arm(code, cause.text());
}

run_action run_fsm::fail_arm(std::string code, std::string message) {
    stop_ = true;
    // A host appends the last lines that the browser said. They go with the arm's errors when it closes; a reason is one
    // sentence.
    if (const auto lines = message.find(last_lines_heading); lines != std::string::npos) message.resize(lines);
    if (message.starts_with(code + ": ")) message.erase(0, code.size() + 2);
    reason why{std::string(run_code_prefix) + code, message, {}};
    if (!document_.arms.empty()) {
        why.facts = {{"arm", arm().arm},
                     {"quadruple", std::to_string(arm().quadruple)},
                     {"position", std::to_string(arm().position)},
                     {"phase", std::string(run_step_name(step_))}};
        note_error(code + ": " + message);
    }
    failures_.push_back(std::move(why));
    if (step_ == run_step::closing || !in_hand_is_open()) {
        note_closed();
        return close_or_go_on();
    }
    enter(run_step::closing);
    return close_arm{};
}

run_action run_fsm::unexpected(std::string_view event) {
    if (step_ == run_step::sealed) return finish_run{run_state::failed};
    if (step_ == run_step::analysing) return seal_receipt{};
    const std::string text = "The event '" + std::string(event) + "' does not belong in the state '" +
                             std::string(run_step_name(step_)) + "'";
    if (step_ == run_step::queued) {
        document_.notes.push_back("protocol-error: " + text);
        return finish_run{run_state::failed};
    }
    return fail_arm("protocol-error", text);
}

run_action run_fsm::on(const cancel_asked& event) {
    if (step_ == run_step::analysing) return seal_receipt{};
    if (step_ == run_step::sealed) return finish_run{run_state::done};
    cancel_ = event;
    if (step_ == run_step::queued)
        return finish_run{event.interrupted ? run_state::interrupted : run_state::cancelled};
    return fail_arm(event.interrupted ? "interrupted" : "cancelled", event.why);
}

run_action run_fsm::analyse_run() {
    enter(run_step::analysing);
    double total = 0, timed = 0;
    for (const auto& [phase, milliseconds] : document_.phases_ms) total += milliseconds;
    for (const arm_record& block : document_.arms)
        for (const step_sample& step : block.steps) timed += step.wall_ms;
    document_.total_ms = total;
    document_.overhead_ms = std::max(total - timed, 0.0);
    fill_figures(document_);
    document_.verdict = judge(document_, document_.analysis, gate_outcome{refused_, unqualified_, gate_reasons_}, budgets{},
                              failures_);
    return seal_receipt{};
}

run_action run_fsm::on(const receipt_was_sealed&) {
    if (step_ != run_step::analysing) return unexpected("sealed");
    enter(run_step::sealed);
    if (cancel_) return finish_run{cancel_->interrupted ? run_state::interrupted : run_state::cancelled};
    const bool failed = document_.verdict.result == verdict_result::failed;
    return finish_run{failed ? run_state::failed : run_state::done};
}

}  // namespace assay
