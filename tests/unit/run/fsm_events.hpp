// Events of a run as its parts would send them, and scripts of whole arms, for the tests of the state machine.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "run/run_fsm.hpp"

namespace assay::test {

inline constexpr int quadruple_arms = 4;

inline run_settings settings(bool allow_unqualified = false) {
    run_settings out;
    out.id = run_id("01J00000000000000000000001");
    out.receipt = receipt_id("01J00000000000000000000002");
    out.created_at = "2026-11-30T21:37:27.123Z";
    out.request.preset = "smoke";
    out.request.steps = 2;
    out.request.warmup = 1;
    out.request.allow_unqualified = allow_unqualified;
    REQUIRE(validate(out.request).has_value());
    out.gate = [](const adapter_views&, const environment_snapshot&) { return gate_decision{true, {}}; };
    return out;
}

inline adapter_views some_adapter() {
    adapter_views views;
    views.page = page_adapter{"apple", "metal-3", "", "", false, {}, {}, {}, {}};
    views.devtools = devtools_adapter{};
    return views;
}

inline arm_was_opened opened() {
    arm_opened arm;
    arm.browser = browser_facts{"Chrome/156", "/usr/bin/chrome", "agent", "v8", {"--headless"}};
    arm.ready.arms = {"wasm-simd-mt", "webgpu"};
    arm.ready.page = page_facts{true, "visible", 5, 2, "agent", true, {}, {}};
    arm.adapter = some_adapter();
    return {arm, environment_snapshot{}};
}

inline arm_was_prepared prepared() {
    prepared_event event;
    event.arm = "any";
    event.weights_sha256 = std::string(64, 'a');
    event.batches_sha256 = std::string(64, 'b');
    event.corpus_sha256 = std::string(64, 'c');
    event.parameters = 1;
    event.cold_start_ms = {{"compile", 3}, {"weights", 4}};
    event.wait = "synchronous";
    return {event};
}

inline arm_said steps(arm_phase phase, int first, int count) {
    steps_event event;
    event.phase = phase;
    event.first = first;
    for (int at = 0; at < count; ++at) {
        event.wall_ms.push_back(10 + at);
        event.loss.push_back(5.5 - 0.1 * (first + at));
    }
    return {arm_event{0, event}};
}

inline arm_said done(arm_phase phase, int count) {
    done_event event;
    event.phase = phase;
    event.steps = count;
    return {arm_event{0, event}};
}

/// The events of one whole arm whose GPU's clock was read after the last step.
inline std::vector<run_event> arm_events_with_gpu_times(std::vector<double> gpu_ms) {
    done_event measured;
    measured.phase = arm_phase::measure;
    measured.steps = 2;
    measured.gpu_ms = std::move(gpu_ms);
    return {opened(),
            prepared(),
            phase_was_started{},
            steps(arm_phase::warmup, 0, 1),
            done(arm_phase::warmup, 1),
            phase_was_started{},
            steps(arm_phase::measure, 0, 2),
            arm_said{arm_event{0, measured}}};
}

inline arm_was_checked checked() {
    return {some_adapter(), opened().opened.ready.page, environment_snapshot{}};
}

inline run_event failure() {
    return operation_failed{{error_code::browser_crashed, "Chrome is gone", {}, {}, "crashed"}};
}

/// The events of one whole arm, in order.
inline std::vector<run_event> arm_events() {
    std::vector<run_event> events = arm_events_with_gpu_times({});
    events.push_back(checked());
    events.push_back(arm_was_closed{});
    return events;
}

template <class Action>
inline bool is(const run_action& action) {
    return std::holds_alternative<Action>(action);
}

/// The event of an action that went well.
inline run_event answer_to(const run_fsm& machine, const run_action& action) {
    if (is<open_arm>(action)) return opened();
    if (is<check_arm>(action)) return checked();
    if (is<prepare_arm>(action)) return prepared();
    if (is<start_phase>(action)) return phase_was_started{};
    if (is<pause_between_arms>(action)) return pause_ended{};
    if (is<settle_machine>(action)) return machine_was_settled{true, {}};
    if (is<seal_receipt>(action)) return receipt_was_sealed{};
    if (!is<await_arm_event>(action)) return arm_was_closed{};
    const bool warming = machine.step() == run_step::warming;
    const arm_record& arm = machine.document().arms.at(static_cast<std::size_t>(machine.arm_index()));
    const run_request& request = machine.document().request;
    const arm_phase phase = warming ? arm_phase::warmup : arm_phase::measure;
    const int before = machine.steps_before();
    const int have = static_cast<int>(warming ? arm.warmup.size() : arm.steps.size()) - before;
    const int slice = request.slice_steps.value_or(request.steps);
    const int asked = warming ? request.warmup : std::min(slice, request.steps - before);
    return have < asked ? steps(phase, have, 1) : done(phase, asked);
}

/// Leads the machine to its end by answering every action with success; returns the final state.
inline run_state lead_to_the_end(run_fsm& machine, run_action action) {
    for (int guard = 0; guard < 1000; ++guard) {
        if (auto* finish = std::get_if<finish_run>(&action)) return finish->state;
        action = machine.resume(answer_to(machine, action), guard);
    }
    FAIL("the machine never ends");
    return run_state::failed;
}

inline run_event claimed() {
    return run_claimed{machine_facts{}, environment_snapshot{}};
}

}  // namespace assay::test
