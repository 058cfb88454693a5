#include <doctest/doctest.h>

#include "fsm_events.hpp"

using namespace assay;
using namespace assay::test;

TEST_CASE("a run without disturbance measures four arms in the order A B B A and ends as done") {
    run_fsm machine(settings());
    CHECK(machine.document().plan == std::vector<char>{'A', 'B', 'B', 'A'});
    CHECK(lead_to_the_end(machine, machine.resume(claimed(), 0)) == run_state::done);
    const receipt& document = machine.document();
    REQUIRE(document.arms.size() == quadruple_arms);
    CHECK(document.arms[0].arm == "wasm-simd-mt");
    CHECK(document.arms[1].arm == "webgpu");
    CHECK(document.arms[2].arm == "webgpu");
    CHECK(document.arms[3].arm == "wasm-simd-mt");
    for (const arm_record& arm : document.arms) {
        CHECK(arm.steps.size() == 2);
        CHECK(arm.warmup.size() == 1);
        CHECK(arm.cold_start_ms == doctest::Approx(7));
        CHECK(arm.errors.empty());
        CHECK(arm.adapter_after.has_value());
    }
    CHECK(document.inputs.weights_sha256 == std::string(64, 'a'));
    CHECK(machine.step() == run_step::sealed);
}

TEST_CASE("GPU times that arrive after the last step stand beside the step they belong to") {
    run_fsm machine(settings());
    machine.resume(claimed(), 0);
    run_action action = await_arm_event{};
    for (const run_event& event : arm_events_with_gpu_times({7.5, 8})) action = machine.resume(event, 0);
    CHECK(is<check_arm>(action));
    const arm_record& arm = machine.document().arms.back();
    CHECK(arm.steps[0].gpu_ms == 7.5);
    CHECK(arm.steps[1].gpu_ms == 8);
    CHECK_FALSE(arm.warmup[0].gpu_ms.has_value());
}

TEST_CASE("GPU times of another number of steps than ran are an error of the arm") {
    run_fsm machine(settings());
    machine.resume(claimed(), 0);
    for (const run_event& event : arm_events_with_gpu_times({7.5})) machine.resume(event, 0);
    const arm_record& arm = machine.document().arms.back();
    REQUIRE_FALSE(arm.errors.empty());
    CHECK(arm.errors.front().starts_with("protocol-error"));
    CHECK_FALSE(arm.steps[0].gpu_ms.has_value());
}

TEST_CASE("warm-up is left out when none is asked for") {
    run_settings without = settings();
    without.request.warmup = 0;
    run_fsm machine(without);
    CHECK(lead_to_the_end(machine, machine.resume(claimed(), 0)) == run_state::done);
    CHECK(machine.document().arms[0].warmup.empty());
}

TEST_CASE("a gate that says no before the first arm refuses: no arm ran, and the receipt says why") {
    run_settings refusing = settings();
    refusing.gate = [](const adapter_views&, const environment_snapshot&) {
        return gate_decision{false, {{"adapter-fallback", "The adapter is software.", {}}}};
    };
    run_fsm machine(refusing);
    machine.resume(claimed(), 0);
    const run_action action = machine.resume(opened(), 1);
    CHECK(is<close_arm>(action));
    CHECK(lead_to_the_end(machine, action) == run_state::done);
    CHECK(machine.document().arms.empty());
    CHECK(machine.document().verdict.result == verdict_result::refused);
    REQUIRE_FALSE(machine.document().verdict.reasons.empty());
    CHECK(machine.document().verdict.reasons[0].code == "adapter-fallback");
}

TEST_CASE("where unqualified runs are allowed the arms run and the verdict is unqualified") {
    run_settings lenient = settings(true);
    lenient.gate = [](const adapter_views&, const environment_snapshot&) {
        return gate_decision{false, {{"adapter-fallback", "The adapter is software.", {}}}};
    };
    run_fsm machine(lenient);
    CHECK(lead_to_the_end(machine, machine.resume(claimed(), 0)) == run_state::done);
    CHECK(machine.document().arms.size() == quadruple_arms);
    CHECK(machine.document().verdict.result == verdict_result::unqualified);
}

TEST_CASE("a machine that stops meeting the policy in the middle spoils the run instead of refusing it") {
    run_settings changing = settings();
    int looks = 0;
    changing.gate = [&looks](const adapter_views&, const environment_snapshot&) {
        return ++looks < 4 ? gate_decision{true, {}} : gate_decision{false, {{"adapter-changed", "It changed.", {}}}};
    };
    run_fsm machine(changing);
    lead_to_the_end(machine, machine.resume(claimed(), 0));
    CHECK(machine.document().arms.size() == 2);
    CHECK(machine.document().verdict.result != verdict_result::verified);
    CHECK(machine.document().verdict.result != verdict_result::refused);
}

TEST_CASE("a failure at any point closes the arm that is open, seals a failed receipt and never calls it verified") {
    const std::vector<run_event> events = arm_events();
    for (std::size_t at = 0; at <= events.size(); ++at) {
        CAPTURE(at);
        run_fsm machine(settings());
        run_action action = machine.resume(claimed(), 0);
        for (std::size_t before = 0; before < at; ++before) action = machine.resume(events[before], 1.0);
        const bool open_arm_expected = machine.step() != run_step::closing;
        action = machine.resume(failure(), 2.0);
        if (open_arm_expected) CHECK(is<close_arm>(action));
        CHECK(lead_to_the_end(machine, action) == run_state::failed);
        CHECK(machine.document().verdict.result == verdict_result::failed);
        bool named = false;
        for (const arm_record& arm : machine.document().arms)
            for (const std::string& text : arm.errors) named = named || text.find("crashed: Chrome is gone") == 0;
        CHECK(named);
    }
}

TEST_CASE("a cancel at any point ends the run as cancelled, an interruption as interrupted") {
    const std::vector<run_event> events = arm_events();
    for (const bool interrupted : {false, true})
        for (std::size_t at = 0; at < events.size(); ++at) {
            CAPTURE(at);
            run_fsm machine(settings());
            run_action action = machine.resume(claimed(), 0);
            for (std::size_t before = 0; before < at; ++before) action = machine.resume(events[before], 1.0);
            action = machine.resume(cancel_asked{"asked", interrupted}, 2.0);
            CHECK(lead_to_the_end(machine, action) == (interrupted ? run_state::interrupted : run_state::cancelled));
            CHECK(machine.document().verdict.result != verdict_result::verified);
        }
}

TEST_CASE("every event in every state has an answer, and none that is out of place leads to a verified receipt") {
    const std::vector<run_event> every = {claimed(),
                                          opened(),
                                          checked(),
                                          prepared(),
                                          phase_was_started{},
                                          steps(arm_phase::measure, 0, 1),
                                          done(arm_phase::warmup, 1),
                                          arm_was_closed{},
                                          pause_ended{},
                                          machine_was_settled{},
                                          failure(),
                                          cancel_asked{"asked", false},
                                          receipt_was_sealed{}};
    const std::vector<run_event> events = arm_events();
    std::set<run_step> visited;
    for (std::size_t at = 0; at <= events.size() + 1; ++at)
        for (const run_event& event : every) {
            run_fsm machine(settings());
            run_action action = seal_receipt{};
            if (at > 0) action = machine.resume(claimed(), 0);
            for (std::size_t before = 0; before + 1 < at; ++before) action = machine.resume(events[before], 1.0);
            visited.insert(machine.step());
            action = machine.resume(event, 2.0);
            lead_to_the_end(machine, action);
            CHECK(machine.document().arms.size() <= quadruple_arms);
        }
    for (const run_step step : {run_step::queued, run_step::launching, run_step::gating, run_step::preparing,
                                run_step::warming, run_step::measuring, run_step::closing})
        CHECK(visited.count(step) == 1);
}

TEST_CASE("steps that skip, repeat, overflow or belong to another phase end the arm as a protocol error") {
    const std::vector<run_event> wrong = {steps(arm_phase::measure, 0, 1), steps(arm_phase::warmup, 1, 1),
                                          steps(arm_phase::warmup, 0, 2), done(arm_phase::warmup, 1),
                                          done(arm_phase::measure, 1)};
    for (const run_event& event : wrong) {
        run_fsm machine(settings());
        machine.resume(claimed(), 0);
        machine.resume(opened(), 1);
        machine.resume(prepared(), 2);
        machine.resume(phase_was_started{}, 3);
        const run_action action = machine.resume(event, 4);
        CHECK(is<close_arm>(action));
        CHECK(lead_to_the_end(machine, action) == run_state::failed);
        CHECK(machine.document().arms[0].errors.at(0).find("protocol-error") == 0);
    }
}

TEST_CASE("an arm's own error keeps its code") {
    run_fsm machine(settings());
    machine.resume(claimed(), 0);
    machine.resume(opened(), 1);
    machine.resume(prepared(), 2);
    machine.resume(phase_was_started{}, 3);
    const run_action action =
        machine.resume(arm_said{arm_event{0, arm_error_event{"device-lost", "The device is gone", "warmup"}}}, 4);
    lead_to_the_end(machine, action);
    CHECK(machine.document().arms[0].errors.at(0) == "device-lost: The device is gone");
}

TEST_CASE("what Chrome said last is kept when an arm failed and left out when it did not") {
    arm_closed closed;
    closed.last_lines = {"GPU process exited"};
    run_fsm failing(settings());
    failing.resume(claimed(), 0);
    failing.resume(failure(), 1);
    failing.resume(arm_was_closed{closed}, 2);
    CHECK(failing.document().arms[0].errors.back() == "said: GPU process exited");
}
