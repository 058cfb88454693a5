// The run's decisions, without I/O: resume(event) answers the one action to perform next.
//
//   queued -> claimed -> [launching -> gating -> preparing -> warming -> measuring -> gating -> closing] per arm
//          -> analysing -> sealed
//
// With slice_steps the four arms of a quadruple are open at once: each goes as far as `warming`, then they measure in turn,
// slice by slice, and then each is gated and closed.
//
// The machine owns the receipt while it grows. Every event in every state has an answer: an event that the state does
// not expect ends the arm as a protocol error, and a failure, a cancel or a refusal at any point leads through closing
// to a sealed receipt that says why. See run_executor.hpp for the shell that performs the actions.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "contract/receipt.hpp"
#include "run/ports.hpp"

namespace assay {

enum class run_step { queued, claimed, launching, gating, preparing, warming, measuring, closing, analysing, sealed };
std::string_view run_step_name(run_step step);

// ---- events: what happened
struct run_claimed {
    machine_facts machine;
    environment_snapshot environment;
};
struct arm_was_opened {
    arm_opened opened;
    environment_snapshot environment;
};
/// Both proofs read anew after the timed steps.
struct arm_was_checked {
    adapter_views adapter;
    std::optional<page_facts> page;
    environment_snapshot environment;
};
struct arm_was_prepared {
    prepared_event prepared;
};
struct phase_was_started {};
struct arm_said {
    arm_event event;
};
struct arm_was_closed {
    arm_closed closed;
};
struct pause_ended {};
/// The wait for load and temperature has ended, because they are back or because its limit was reached.
struct machine_was_settled {
    bool settled = false;
    environment_snapshot environment;
};
struct operation_failed {
    error cause;
};
struct cancel_asked {
    std::string why;  ///< "cancelled by request", "the service is stopping"
    bool interrupted = false;
};
struct receipt_was_sealed {};
using run_event = std::variant<run_claimed, arm_was_opened, arm_was_checked, arm_was_prepared, phase_was_started, arm_said,
                               arm_was_closed, pause_ended, machine_was_settled, operation_failed, cancel_asked, receipt_was_sealed>;

// ---- actions: what to do next
struct open_arm {
    std::string arm;
};
struct check_arm {};
struct prepare_arm {
    arm_config config;
};
struct start_phase {
    arm_phase phase;
};
struct await_arm_event {
    std::chrono::milliseconds limit;
};
struct close_arm {};
struct pause_between_arms {
    std::chrono::seconds duration;
};
/// Looks until the machine is back where it was (settling.hpp), at most `limit`.
struct settle_machine {
    environment_snapshot at_start;
    int logical_cores = 1;
    std::chrono::seconds limit;
};
struct seal_receipt {};
/// Nothing is left to do.
struct finish_run {
    run_state state;
};
using run_action = std::variant<open_arm, check_arm, prepare_arm, start_phase, await_arm_event, close_arm,
                                pause_between_arms, settle_machine, seal_receipt, finish_run>;

/// What a policy says of the proofs at one moment: pure (see gate/).
struct gate_decision {
    bool accepted = false;
    std::vector<reason> reasons;  ///< why not; may also hold warnings when accepted
};
using gate_judge = std::function<gate_decision(const adapter_views&, const environment_snapshot&)>;

/// What a run is given beside its request.
struct run_settings {
    run_id id;
    receipt_id receipt;
    std::string created_at;
    run_request request;
    gate_judge gate;
    std::string corpus_url;  ///< empty: the built-in one
    std::string corpus_sha256;
    int default_threads = 1;
    std::vector<std::pair<std::string, std::string>> assets;  ///< served path, SHA-256
    /// The longest silence while an arm runs steps; the first step may compile.
    std::chrono::milliseconds silence_limit{120'000};
};

class run_fsm {
  public:
    explicit run_fsm(run_settings settings);

    /// The next action after `event`; `elapsed_ms` is the time since the run was claimed, for the phases' overhead.
    run_action resume(const run_event& event, double elapsed_ms);

    run_step step() const { return step_; }
    /// Position within the plan of the arm in hand, the one that the next action is for, and how many arms the plan has.
    int arm_index() const { return arm_index_; }
    int arm_count() const { return static_cast<int>(document_.plan.size()); }
    const std::string& current_arm() const;
    /// How many steps of its phase the arm in hand had done before the block that runs.
    int steps_before() const { return steps_before_; }
    const receipt& document() const { return document_; }
    receipt& document() { return document_; }

  private:
    run_action on(const run_claimed& event);
    run_action on(const arm_was_opened& event);
    run_action on(const arm_was_checked& event);
    run_action on(const arm_was_prepared& event);
    run_action on(const phase_was_started& event);
    run_action on(const arm_said& event);
    run_action on(const arm_was_closed& event);
    run_action on(const pause_ended& event);
    run_action on(const machine_was_settled& event);
    run_action on(const operation_failed& event);
    run_action on(const cancel_asked& event);
    run_action on(const receipt_was_sealed& event);

    run_action on_steps(const steps_event& event);
    run_action on_done(const done_event& event);
    run_action begin_arm();
    run_action begin_phase(arm_phase phase, int arm_index);
    run_action measure_or_open_next();
    run_action after_slice();
    run_action close_or_go_on();
    run_action fail_arm(std::string code, std::string message);
    run_action unexpected(std::string_view event);
    run_action next_or_analyse();
    run_action settle_or_begin();
    bool needs_more_warmup();
    void note_error(std::string text);
    void add_gate_reason(const reason& why);
    void book(const std::string& phase);
    run_action analyse_run();
    bool pass_gate(const adapter_views& adapter, const environment_snapshot& environment, bool before);
    void enter(run_step step);
    arm_record& arm() { return document_.arms[static_cast<std::size_t>(arm_index_)]; }
    bool is_sliced() const { return settings_.request.slice_steps.has_value(); }
    bool in_hand_is_open() const;
    void note_closed();

    run_settings settings_;
    receipt document_;
    run_step step_ = run_step::queued;
    int arm_index_ = -1;
    std::vector<int> open_arms_;  ///< positions within the plan, in the order they were opened
    int steps_before_ = 0;        ///< of the arm in hand, when the block of its phase that runs began
    int steps_until_ = 0;         ///< and when it is to end
    environment_snapshot at_start_;
    std::optional<bool> settled_;  ///< of the arm that begins next
    bool stop_ = false;  ///< no further arm: a failure, a refusal or a cancel
    bool refused_ = false;
    bool unqualified_ = false;
    std::vector<reason> gate_reasons_;
    std::vector<reason> failures_;
    std::optional<cancel_asked> cancel_;
    double entered_ms_ = 0;
    double now_ms_ = 0;
};

}  // namespace assay
