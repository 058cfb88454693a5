#include <doctest/doctest.h>

#include "fsm_events.hpp"

using namespace assay;
using namespace assay::test;

TEST_CASE("a pause between arms is made when asked for") {
    run_settings cooling = settings();
    cooling.request.cool_down_seconds = 7;
    run_fsm machine(cooling);
    machine.resume(claimed(), 0);
    run_action action = open_arm{};
    for (const run_event& event : arm_events()) action = machine.resume(event, 1);
    REQUIRE(is<pause_between_arms>(action));
    CHECK(std::get<pause_between_arms>(action).duration == std::chrono::seconds(7));
    CHECK(is<open_arm>(machine.resume(pause_ended{}, 2)));
}

TEST_CASE("the wait for load and temperature comes after the pause, and the arm after it says how the wait ended") {
    run_settings cooling = settings();
    cooling.request.cool_down_seconds = 7;
    cooling.request.settle_seconds = 60;
    run_fsm machine(cooling);
    environment_snapshot quiet;
    quiet.load_average_1m = 0.2;
    machine_facts cores;
    cores.logical_cores = 4;
    machine.resume(run_claimed{cores, quiet}, 0);
    for (const run_event& event : arm_events()) machine.resume(event, 1000);
    const run_action wait = machine.resume(pause_ended{}, 8000);
    REQUIRE(is<settle_machine>(wait));
    CHECK(std::get<settle_machine>(wait).limit == std::chrono::seconds(60));
    CHECK(std::get<settle_machine>(wait).logical_cores == 4);
    CHECK(std::get<settle_machine>(wait).at_start.load_average_1m == 0.2);
    environment_snapshot busy;
    busy.load_average_1m = 3;
    CHECK(is<open_arm>(machine.resume(machine_was_settled{false, busy}, 68000)));
    const receipt& document = machine.document();
    CHECK_FALSE(document.arms[0].settled.has_value());
    CHECK(document.arms[1].settled == false);
    CHECK(document.phases_ms.at("pausing") == doctest::Approx(7000));
    CHECK(document.phases_ms.at("settling") == doctest::Approx(60000));
    REQUIRE(document.notes.size() == 1);
    CHECK(document.notes[0] == "not settled before arm 2: load 3.00 (0.20 at the start)");
}

TEST_CASE("warm-up goes on in blocks until its median is stable, and measuring starts from step 1 all the same") {
    run_settings patient = settings();
    patient.request.warmup = 2;
    patient.request.warmup_until_stable = stable_warmup{8, 0.05};
    REQUIRE(validate(patient.request).has_value());
    const auto block = [](double wall_ms) {
        steps_event event;
        event.phase = arm_phase::warmup;
        event.wall_ms = {wall_ms, wall_ms};
        event.loss = {5.5, 5.4};
        return arm_said{arm_event{0, event}};
    };
    const auto run_blocks = [&](run_fsm& machine, const std::vector<double>& times) {
        machine.resume(claimed(), 0);
        machine.resume(opened(), 1);
        run_action action = machine.resume(prepared(), 2);
        for (const double time : times) {
            REQUIRE(is<start_phase>(action));
            CHECK(std::get<start_phase>(action).phase == arm_phase::warmup);
            machine.resume(phase_was_started{}, 3);
            machine.resume(block(time), 4);
            action = machine.resume(done(arm_phase::warmup, 2), 5);
        }
        REQUIRE(is<start_phase>(action));
        CHECK(std::get<start_phase>(action).phase == arm_phase::measure);
        machine.resume(phase_was_started{}, 6);
        machine.resume(steps(arm_phase::measure, 0, 2), 7);
        return machine.resume(done(arm_phase::measure, 2), 8);
    };
    SUBCASE("stable within its bound") {
        run_fsm machine(patient);
        CHECK(is<check_arm>(run_blocks(machine, {40, 20, 19.5})));
        CHECK(machine.document().arms[0].warmup.size() == 6);
        CHECK(machine.document().arms[0].warmup_stable == true);
        CHECK(machine.document().arms[0].steps.size() == 2);
    }
    SUBCASE("never stable: the bound ends it, and the receipt says so") {
        run_fsm machine(patient);
        CHECK(is<check_arm>(run_blocks(machine, {40, 20, 40, 20})));
        CHECK(machine.document().arms[0].warmup.size() == 8);
        CHECK(machine.document().arms[0].warmup_stable == false);
    }
}

TEST_CASE("gate reasons that differ only in a number are one reason with every value") {
    run_settings lenient = settings(true);
    int look = 0;
    lenient.gate = [&look](const adapter_views&, const environment_snapshot&) {
        const std::string rate = look++ % 2 == 0 ? "3.1" : "2.9";
        return gate_decision{false,
                             {{"adapter-probe-implausible", "it ran at " + rate, {{"probe_gflops", rate}}},
                              {"adapter-fallback", "it is a fallback", {{"page.is_fallback", "true"}}}}};
    };
    run_fsm machine(lenient);
    lead_to_the_end(machine, machine.resume(claimed(), 0));
    const auto& reasons = machine.document().verdict.reasons;
    const auto with_code = [&](std::string_view code) {
        return std::count_if(reasons.begin(), reasons.end(), [&](const reason& why) { return why.code == code; });
    };
    CHECK(with_code("adapter-probe-implausible") == 1);
    CHECK(with_code("adapter-fallback") == 1);
    for (const reason& why : reasons) {
        if (why.code == "adapter-probe-implausible") CHECK(why.facts.at("probe_gflops") == "3.1; 2.9");
        if (why.code == "adapter-fallback") CHECK(why.facts.at("page.is_fallback") == "true");
    }
}

TEST_CASE("a whole run's time is the sum of its phases, and its overhead is what the timed steps leave of it") {
    run_settings two = settings();
    two.request.cool_down_seconds = 1;
    run_fsm machine(two);
    lead_to_the_end(machine, machine.resume(claimed(), 0));  // one millisecond an event
    const receipt& document = machine.document();
    double phases = 0, timed = 0;
    // The receipt is written while the run is analysed, so that phase is no part of the time it states.
    for (const auto& [name, milliseconds] : document.phases_ms)
        if (name != "analysing") phases += milliseconds;
    for (const arm_record& arm : document.arms)
        for (const step_sample& step : arm.steps) timed += step.wall_ms;
    REQUIRE(document.total_ms);
    CHECK(*document.total_ms == doctest::Approx(phases));
    CHECK(*document.overhead_ms == doctest::Approx(std::max(phases - timed, 0.0)));
    for (const char* name : {"launching", "gating", "preparing", "warming", "measuring", "closing", "pausing"})
        CHECK(document.phases_ms.count(name) == 1);
}

TEST_CASE("the overhead of a run is kept by phase") {
    run_fsm machine(settings());
    machine.resume(claimed(), 0);
    machine.resume(opened(), 100);
    machine.resume(prepared(), 130);
    CHECK(machine.document().phases_ms.at("launching") == doctest::Approx(100));
    CHECK(machine.document().arms[0].phases_ms.at("preparing") == doctest::Approx(30));
}
