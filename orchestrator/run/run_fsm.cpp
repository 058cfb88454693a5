#include "run/run_fsm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/stopping_rule.hpp"
#include "contract/arm.hpp"
#include "run/settling.hpp"
#include "schedule/abba_plan.hpp"

namespace assay {
namespace {

constexpr int arms_a_quadruple = 4;
/// A fact that changes from arm to arm lists its values up to about this length.
constexpr std::size_t max_fact_bytes = 400;

/// A command goes through its phases by itself and cannot be asked for another block of warm-up.
bool runs_by_itself(const std::string& arm) {
    const auto kind = arm_kind_of(arm);
    return kind && (*kind == arm_kind::native || *kind == arm_kind::external);
}

void take_page_facts(environment_snapshot& environment, const std::optional<page_facts>& page) {
    if (!page) return;
    environment.cross_origin_isolated = page->cross_origin_isolated;
    environment.visibility = page->visibility;
    environment.timer_quantum_us = page->timer_quantum_us;
}

}  // namespace

std::string_view run_step_name(run_step step) {
    switch (step) {
        case run_step::queued: return "queued";
        case run_step::claimed: return "claimed";
        case run_step::launching: return "launching";
        case run_step::gating: return "gating";
        case run_step::preparing: return "preparing";
        case run_step::warming: return "warming";
        case run_step::measuring: return "measuring";
        case run_step::closing: return "closing";
        case run_step::analysing: return "analysing";
        case run_step::sealed: return "sealed";
    }
    return "sealed";
}

run_fsm::run_fsm(run_settings settings) : settings_(std::move(settings)) {
    const run_request& request = settings_.request;
    document_.id = settings_.receipt.text();
    document_.run_id = settings_.id.text();
    document_.created_at = settings_.created_at;
    document_.request = request;
    document_.nonce = request.nonce;
    document_.model = {request.model, parameter_count(request.model), flops_per_step(request.model)};
    for (const auto& [path, sha256] : settings_.assets) document_.inputs.assets[path] = sha256;
    document_.plan = make_plan(first_stage_quadruples(request.quadruples), request.seed, request.randomise_order);
}

const std::string& run_fsm::current_arm() const {
    const auto at = static_cast<std::size_t>(std::max(arm_index_, 0));
    return settings_.request.arms[document_.plan[at] == 'A' ? 0 : 1];
}

run_action run_fsm::resume(const run_event& event, double elapsed_ms) {
    now_ms_ = elapsed_ms;
    return std::visit([this](const auto& what) { return on(what); }, event);
}

/// Adds the time since the last call to a phase: of the run, and of the arm that is going on.
void run_fsm::book(const std::string& phase) {
    const double spent = now_ms_ - entered_ms_;
    entered_ms_ = now_ms_;
    document_.phases_ms[phase] += spent;
    if (step_ != run_step::claimed && step_ != run_step::analysing && !document_.arms.empty()) arm().phases_ms[phase] += spent;
}

void run_fsm::enter(run_step step) {
    const bool between_arms = step_ == run_step::closing && !in_hand_is_open();
    if (step_ == run_step::queued || step_ == run_step::sealed)
        entered_ms_ = now_ms_;
    else if (!between_arms)
        book(std::string(run_step_name(step_)));
    else if (now_ms_ > entered_ms_)  // a pause that was cut short
        book("pausing");
    step_ = step;
}

run_action run_fsm::on(const run_claimed& event) {
    if (step_ != run_step::queued) return unexpected("claimed");
    document_.machine = event.machine;
    document_.environment = event.environment;
    at_start_ = event.environment;
    enter(run_step::claimed);
    return begin_arm();
}

bool run_fsm::in_hand_is_open() const {
    return std::find(open_arms_.begin(), open_arms_.end(), arm_index_) != open_arms_.end();
}

void run_fsm::note_closed() {
    std::erase(open_arms_, arm_index_);
}

run_action run_fsm::begin_arm() {
    enter(run_step::launching);
    ++arm_index_;
    arm_record record;
    record.arm = current_arm();
    record.block = document_.plan[static_cast<std::size_t>(arm_index_)];
    record.quadruple = arm_index_ / arms_a_quadruple;
    record.position = arm_index_ % arms_a_quadruple;
    record.settled = std::exchange(settled_, std::nullopt);
    document_.arms.push_back(std::move(record));
    open_arms_.push_back(arm_index_);
    return open_arm{current_arm()};
}

/// One reason a code: what differs only in a number is said once, with every value among its facts.
void run_fsm::add_gate_reason(const reason& why) {
    const auto same = [&](const reason& known) { return known.code == why.code; };
    const auto known = std::find_if(gate_reasons_.begin(), gate_reasons_.end(), same);
    if (known == gate_reasons_.end()) {
        gate_reasons_.push_back(why);
        return;
    }
    for (const auto& [name, value] : why.facts) {
        std::string& text = known->facts[name];
        const bool listed = ("; " + text + "; ").find("; " + value + "; ") != std::string::npos;
        if (!listed && text.size() < max_fact_bytes) text += (text.empty() ? "" : "; ") + value;
    }
}

bool run_fsm::pass_gate(const adapter_views& adapter, const environment_snapshot& environment, bool before) {
    const gate_decision decision = settings_.gate(adapter, environment);
    for (const reason& why : decision.reasons) add_gate_reason(why);
    if (decision.accepted) return true;
    unqualified_ = true;
    if (settings_.request.allow_unqualified) return true;
    // Before the first arm the answer is a refusal: nothing ran. Later it is a change that spoils the run.
    if (before && arm_index_ == 0) refused_ = true;
    return false;
}

run_action run_fsm::on(const arm_was_opened& event) {
    if (step_ != run_step::launching) return unexpected("opened");
    enter(run_step::gating);
    arm_record& record = arm();
    record.adapter_before = event.opened.adapter;
    environment_snapshot environment = event.environment;
    take_page_facts(environment, event.opened.ready.page);
    record.environment_before = environment;
    record.phases_ms["launch_process"] = event.opened.launch_ms;
    record.phases_ms["open_page"] = event.opened.page_ms;
    if (event.opened.browser && !document_.browser) document_.browser = event.opened.browser;
    const bool has_page = event.opened.ready.page.has_value();
    if (has_page && !document_.adapter) {
        document_.adapter = event.opened.adapter;
        document_.environment = environment;
    }
    // A native or external arm has no page and no adapter of its own: its row is directional, the gate judges the pages.
    if (has_page && !pass_gate(event.opened.adapter, environment, true)) {
        stop_ = true;
        enter(run_step::closing);
        if (refused_) document_.arms.pop_back();
        return close_arm{};
    }
    const run_request& request = settings_.request;
    arm_config config;
    config.arm = record.arm;
    config.model = request.model;
    config.steps = request.steps;
    config.warmup = request.warmup;
    config.seed = request.seed;
    config.threads = arm_is_threaded(record.arm) ? request.threads.value_or(settings_.default_threads) : 1;
    config.corpus_url = settings_.corpus_url;
    config.corpus_sha256 = settings_.corpus_sha256;
    config.pipelined_steps = request.pipelined_steps;
    config.slice_steps = request.slice_steps;
    config.repeat_optimizer = request.repeat_optimizer;
    enter(run_step::preparing);
    return prepare_arm{std::move(config)};
}

run_action run_fsm::on(const arm_was_prepared& event) {
    if (step_ != run_step::preparing) return unexpected("prepared");
    arm_record& record = arm();
    const prepared_event& prepared = event.prepared;
    record.threads = prepared.threads;
    record.weights_sha256 = prepared.weights_sha256;
    record.batches_sha256 = prepared.batches_sha256;
    record.corpus_sha256 = prepared.corpus_sha256;
    record.cold_start_parts_ms = prepared.cold_start_ms;
    double total = 0;
    for (const auto& [name, milliseconds] : prepared.cold_start_ms) total += milliseconds;
    record.cold_start_ms = total;
    record.dispatches_per_step = prepared.dispatches_per_step;
    record.wait = prepared.wait;
    record.gpu_timestamp_quantum_ns = prepared.gpu_timestamp_quantum_ns;
    record.variant = prepared.variant;
    // The first arm's digests stand for the run; analysis compares every other arm's with them.
    if (!document_.inputs.weights_sha256) {
        document_.inputs.weights_sha256 = prepared.weights_sha256;
        document_.inputs.batches_sha256 = prepared.batches_sha256;
        document_.inputs.corpus_sha256 = prepared.corpus_sha256;
    }
    if (settings_.request.warmup > 0) return begin_phase(arm_phase::warmup, arm_index_);
    return measure_or_open_next();
}

/// The next block of a phase, of an arm that is open: all of the phase's steps, or those of a slice.
run_action run_fsm::begin_phase(arm_phase phase, int arm_index) {
    const run_request& request = settings_.request;
    const bool warming = phase == arm_phase::warmup;
    enter(warming ? run_step::warming : run_step::measuring);
    arm_index_ = arm_index;
    steps_before_ = static_cast<int>((warming ? arm().warmup : arm().steps).size());
    if (warming)
        steps_until_ = steps_before_ + request.warmup;
    else
        steps_until_ = std::min(request.steps, steps_before_ + request.slice_steps.value_or(request.steps));
    return start_phase{phase};
}

/// What follows an arm's warm-up: its steps, or with slices the quadruple's next arm until all four are warm.
run_action run_fsm::measure_or_open_next() {
    if (!is_sliced()) return begin_phase(arm_phase::measure, arm_index_);
    if ((arm_index_ + 1) % arms_a_quadruple != 0) return begin_arm();
    return begin_phase(arm_phase::measure, open_arms_.front());
}

/// The next slice, in the quadruple's order over and over; every arm has the same number of slices.
run_action run_fsm::after_slice() {
    const auto in_hand = std::find(open_arms_.begin(), open_arms_.end(), arm_index_);
    const bool last_of_round = in_hand + 1 == open_arms_.end();
    if (!last_of_round) return begin_phase(arm_phase::measure, *(in_hand + 1));
    if (steps_until_ < settings_.request.steps) return begin_phase(arm_phase::measure, open_arms_.front());
    enter(run_step::gating);
    arm_index_ = open_arms_.front();
    return check_arm{};
}

run_action run_fsm::on(const phase_was_started&) {
    if (step_ != run_step::warming && step_ != run_step::measuring) return unexpected("phase started");
    return await_arm_event{settings_.silence_limit};
}

run_action run_fsm::on(const arm_said& event) {
    if (step_ != run_step::warming && step_ != run_step::measuring) return unexpected("arm event");
    if (const auto* steps = std::get_if<steps_event>(&event.event.body)) return on_steps(*steps);
    if (const auto* done = std::get_if<done_event>(&event.event.body)) return on_done(*done);
    if (const auto* failure = std::get_if<arm_error_event>(&event.event.body))
        return fail_arm(failure->code, failure->message);
    return fail_arm("protocol-error", "The arm sent an event that does not belong in the middle of its steps");
}

run_action run_fsm::on_steps(const steps_event& event) {
    const bool warming = step_ == run_step::warming;
    if ((event.phase == arm_phase::warmup) != warming)
        return fail_arm("protocol-error", "The arm reported steps of another phase than the one that runs");
    std::vector<step_sample>& samples = warming ? arm().warmup : arm().steps;
    if (steps_before_ + event.first != static_cast<int>(samples.size()) ||
        samples.size() + event.wall_ms.size() > static_cast<std::size_t>(steps_until_))
        return fail_arm("protocol-error", "The arm's steps do not follow one another: " + std::to_string(samples.size()) +
                                              " are known, and it sent " + std::to_string(event.wall_ms.size()) +
                                              " from number " + std::to_string(event.first) + " on, of " +
                                              std::to_string(steps_until_) + " asked for");
    for (std::size_t at = 0; at < event.wall_ms.size(); ++at) {
        step_sample sample{event.wall_ms[at], event.loss[at], std::nullopt};
        if (!event.gpu_ms.empty()) sample.gpu_ms = event.gpu_ms[at];
        samples.push_back(sample);
    }
    return await_arm_event{settings_.silence_limit};
}

run_action run_fsm::on_done(const done_event& event) {
    const bool warming = step_ == run_step::warming;
    if ((event.phase == arm_phase::warmup) != warming)
        return fail_arm("protocol-error", "The arm ended another phase than the one that runs");
    const std::size_t have = warming ? arm().warmup.size() : arm().steps.size();
    if (have != static_cast<std::size_t>(steps_until_))
        return fail_arm("protocol-error", "The arm says that it is done, but " + std::to_string(have) + " of " +
                                              std::to_string(steps_until_) + " steps arrived");
    if (warming && needs_more_warmup()) return begin_phase(arm_phase::warmup, arm_index_);
    if (warming) return measure_or_open_next();
    if (steps_until_ < settings_.request.steps) return after_slice();
    if (!event.gpu_ms.empty() && event.gpu_ms.size() != have)
        return fail_arm("protocol-error", "The arm sent " + std::to_string(event.gpu_ms.size()) + " GPU times for " +
                                              std::to_string(have) + " steps");
    for (std::size_t at = 0; at < event.gpu_ms.size(); ++at) arm().steps[at].gpu_ms = event.gpu_ms[at];
    arm().pipelined_step_ms = event.pipelined_step_ms;
    if (is_sliced()) return after_slice();
    enter(run_step::gating);
    return check_arm{};
}

/// Decides after a block of warm-up whether another follows; notes how it ended when none does.
bool run_fsm::needs_more_warmup() {
    const auto& wanted = settings_.request.warmup_until_stable;
    if (!wanted || runs_by_itself(arm().arm)) return false;
    const bool stable = warmup_is_stable(arm().warmup, settings_.request.warmup, wanted->tolerance);
    const int next_total = static_cast<int>(arm().warmup.size()) + settings_.request.warmup;
    if (!stable && next_total <= wanted->bound) return true;
    arm().warmup_stable = stable;
    return false;
}

run_action run_fsm::on(const arm_was_checked& event) {
    if (step_ != run_step::gating) return unexpected("checked");
    arm_record& record = arm();
    environment_snapshot environment = event.environment;
    take_page_facts(environment, event.page);
    record.adapter_after = event.adapter;
    record.environment_after = environment;
    const bool has_page = event.page.has_value();
    if (has_page && !pass_gate(event.adapter, environment, false)) {
        note_error("gate: the machine no longer met the policy after this arm");
        stop_ = true;
    }
    enter(run_step::closing);
    return close_arm{};
}

run_action run_fsm::on(const arm_was_closed& event) {
    if (step_ != run_step::closing) return unexpected("closed");
    book(std::string(run_step_name(step_)));
    note_closed();
    if (!document_.arms.empty()) {
        arm_record& record = arm();
        record.console = event.closed.console;
        // What Chrome said last matters when something went wrong, and is noise otherwise.
        if (!record.errors.empty())
            for (const std::string& line : event.closed.last_lines) note_error("said: " + line);
        record.phases_ms["close_process"] = event.closed.close_ms;
    }
    return close_or_go_on();
}

/// Takes the next arm of the quadruple that is still open to its end; when none is, the run goes on.
run_action run_fsm::close_or_go_on() {
    if (open_arms_.empty()) return next_or_analyse();
    arm_index_ = open_arms_.front();
    if (stop_) {
        enter(run_step::closing);
        return close_arm{};
    }
    enter(run_step::gating);
    return check_arm{};
}

run_action run_fsm::next_or_analyse() {
    if (stop_) return analyse_run();
    if (arm_index_ + 1 == arm_count() && settings_.request.quadruples.automatic) {
        const int quadruples = quadruples_to_run(document_);
        if (quadruples * arms_a_quadruple > arm_count())
            document_.plan = make_plan(quadruples, settings_.request.seed, settings_.request.randomise_order);
    }
    if (arm_index_ + 1 == arm_count()) return analyse_run();
    if (settings_.request.cool_down_seconds && *settings_.request.cool_down_seconds > 0)
        return pause_between_arms{std::chrono::seconds(*settings_.request.cool_down_seconds)};
    return settle_or_begin();
}

run_action run_fsm::on(const pause_ended&) {
    if (step_ != run_step::closing || in_hand_is_open()) return unexpected("pause ended");
    book("pausing");
    return settle_or_begin();
}

run_action run_fsm::settle_or_begin() {
    if (settings_.request.settle_seconds && *settings_.request.settle_seconds > 0)
        return settle_machine{at_start_, document_.machine ? std::max(document_.machine->logical_cores, 1) : 1,
                              std::chrono::seconds(*settings_.request.settle_seconds)};
    return begin_arm();
}

run_action run_fsm::on(const machine_was_settled& event) {
    if (step_ != run_step::closing || in_hand_is_open()) return unexpected("settled");
    book("settling");
    settled_ = event.settled;
    if (!event.settled)
        document_.notes.push_back("not settled before arm " + std::to_string(arm_index_ + 2) + ": " +
                                  settling_text(at_start_, event.environment));
    return begin_arm();
}

}  // namespace assay
