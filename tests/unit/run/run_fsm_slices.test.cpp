// Blocks measured in turn: the four arms of a quadruple are open at once.
#include <doctest/doctest.h>

#include "fsm_events.hpp"

using namespace assay;
using namespace assay::test;

namespace {

run_settings sliced(int steps, int slice_steps, int quadruples = 1) {
    run_settings out = settings();
    out.request.arms = {"wasm-simd", "wasm-simd-mt"};
    out.request.steps = steps;
    out.request.slice_steps = slice_steps;
    out.request.quadruples.count = quadruples;
    REQUIRE(validate(out.request).has_value());
    return out;
}

/// What the machine asked for on its way to the end, one letter an action with the arm in hand behind it: O(pen), G(ate),
/// P(repare), W(arm), M(easure), C(lose).
std::string course(run_fsm& machine, run_action action) {
    std::string seen;
    while (!is<finish_run>(action)) {
        char letter = 0;
        if (is<open_arm>(action)) letter = 'O';
        if (is<check_arm>(action)) letter = 'G';
        if (is<prepare_arm>(action)) letter = 'P';
        if (auto* start = std::get_if<start_phase>(&action)) letter = start->phase == arm_phase::warmup ? 'W' : 'M';
        if (is<close_arm>(action)) letter = 'C';
        if (letter != 0) seen += (seen.empty() ? "" : " ") + std::string(1, letter) + std::to_string(machine.arm_index());
        action = machine.resume(answer_to(machine, action), 1);
    }
    return seen;
}

}  // namespace

TEST_CASE("with slices all four arms are warm before the first is measured, and then they take turns") {
    run_fsm machine(sliced(3, 2));
    CHECK(course(machine, machine.resume(claimed(), 0)) ==
          "O0 P0 W0 O1 P1 W1 O2 P2 W2 O3 P3 W3 M0 M1 M2 M3 M0 M1 M2 M3 G0 C0 G1 C1 G2 C2 G3 C3");
    REQUIRE(machine.document().arms.size() == quadruple_arms);
    for (const arm_record& arm : machine.document().arms) {
        CHECK(arm.steps.size() == 3);
        CHECK(arm.warmup.size() == 1);
        CHECK(arm.errors.empty());
        CHECK(arm.adapter_after.has_value());
    }
}

TEST_CASE("the next quadruple begins when the four browsers of the last one are closed") {
    run_fsm machine(sliced(2, 2, 2));
    const std::string seen = course(machine, machine.resume(claimed(), 0));
    CHECK(seen.find("C3 O4") != std::string::npos);
    CHECK(machine.document().arms.size() == 2 * quadruple_arms);
}

TEST_CASE("a failure or a cancel while four arms are open closes every one of them, whichever is in hand") {
    for (const bool cancelled : {false, true})
        for (int after = 0; after < 60; ++after) {
            CAPTURE(after);
            run_fsm machine(sliced(4, 2));
            run_action action = machine.resume(claimed(), 0);
            for (int done = 0; done < after && !is<seal_receipt>(action); ++done)
                action = machine.resume(answer_to(machine, action), 1);
            if (is<seal_receipt>(action)) continue;
            const auto opened_arms = machine.document().arms.size();
            const auto known_closed = static_cast<std::size_t>(
                std::count_if(machine.document().arms.begin(), machine.document().arms.end(),
                              [](const arm_record& arm) { return arm.phases_ms.contains("close_process"); }));
            const bool was_closing = is<close_arm>(action);
            action = machine.resume(cancelled ? run_event(cancel_asked{"asked", false}) : failure(), 2);
            const std::string seen = course(machine, action);
            const auto closed = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), 'C'));
            CHECK(closed + known_closed + (was_closing ? 1 : 0) == opened_arms);
            CHECK(seen.find_first_of("OPWMG") == std::string::npos);
            CHECK(machine.document().verdict.result == verdict_result::failed);
        }
}

TEST_CASE("a slice that ends early or late is a protocol error") {
    for (const int count : {1, 3}) {
        run_fsm machine(sliced(4, 2));
        run_action action = machine.resume(claimed(), 0);
        while (machine.step() != run_step::measuring) action = machine.resume(answer_to(machine, action), 1);
        machine.resume(phase_was_started{}, 2);
        machine.resume(steps(arm_phase::measure, 0, count), 3);
        action = machine.resume(done(arm_phase::measure, count), 4);
        CHECK(lead_to_the_end(machine, action) == run_state::failed);
        CHECK(machine.document().arms[0].errors.at(0).find("protocol-error") == 0);
    }
}

TEST_CASE("slices are refused for a command, which cannot stop, and for a GPU, which cools down between its turns") {
    for (const char* arm : {"native", "external:torch", "webgpu", "webgpu-f16"}) {
        CAPTURE(arm);
        run_settings out = settings();
        out.request.arms = {"wasm-simd-mt", arm};
        out.request.slice_steps = 2;
        const auto checked = validate(out.request);
        REQUIRE_FALSE(checked.has_value());
        CHECK(checked.error().field == "/slice_steps");
        CHECK(checked.error().message.find(arm) != std::string::npos);
    }
}
