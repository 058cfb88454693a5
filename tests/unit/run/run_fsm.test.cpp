#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "run/run_fsm.hpp"

using namespace assay;

namespace {

constexpr int quadruple_arms = 4;

run_settings settings(bool allow_unqualified = false) {
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

adapter_views some_adapter() {
    adapter_views views;
    views.page = page_adapter{"apple", "metal-3", "", "", false, {}, {}, {}, {}};
    views.devtools = devtools_adapter{};
    return views;
}

arm_was_opened opened() {
    arm_opened arm;
    arm.browser = browser_facts{"Chrome/156", "/usr/bin/chrome", "agent", "v8", {"--headless"}};
    arm.ready.arms = {"wasm-simd-mt", "webgpu"};
    arm.ready.page = page_facts{true, "visible", 5, 2, "agent", true, {}, {}};
    arm.adapter = some_adapter();
    return {arm, environment_snapshot{}};
}

arm_was_prepared prepared() {
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

arm_said steps(arm_phase phase, int first, int count) {
    steps_event event;
    event.phase = phase;
    event.first = first;
    for (int at = 0; at < count; ++at) {
        event.wall_ms.push_back(10 + at);
        event.loss.push_back(5.5 - 0.1 * (first + at));
    }
    return {arm_event{0, event}};
}

arm_said done(arm_phase phase, int count) {
    done_event event;
    event.phase = phase;
    event.steps = count;
    return {arm_event{0, event}};
}

/// The events of one whole arm whose GPU's clock was read after the last step.
std::vector<run_event> arm_events_with_gpu_times(std::vector<double> gpu_ms) {
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

arm_was_checked checked() {
    return {some_adapter(), opened().opened.ready.page, environment_snapshot{}};
}

run_event failure() {
    return operation_failed{{error_code::browser_crashed, "Chrome is gone", {}, {}, "crashed"}};
}

/// The events of one whole arm, in order.
std::vector<run_event> arm_events() {
    return {opened(),
            prepared(),
            phase_was_started{},
            steps(arm_phase::warmup, 0, 1),
            done(arm_phase::warmup, 1),
            phase_was_started{},
            steps(arm_phase::measure, 0, 2),
            done(arm_phase::measure, 2),
            checked(),
            arm_was_closed{}};
}

template <class Action>
bool is(const run_action& action) {
    return std::holds_alternative<Action>(action);
}

/// Leads the machine to its end by answering every action with success; returns the final state.
run_state lead_to_the_end(run_fsm& machine, run_action action) {
    for (int guard = 0; guard < 1000; ++guard) {
        if (auto* finish = std::get_if<finish_run>(&action)) return finish->state;
        run_event answer = arm_was_closed{};
        if (is<open_arm>(action)) answer = opened();
        if (is<check_arm>(action)) answer = checked();
        if (is<prepare_arm>(action)) answer = prepared();
        if (is<start_phase>(action)) answer = phase_was_started{};
        if (is<pause_between_arms>(action)) answer = pause_ended{};
        if (is<settle_machine>(action)) answer = machine_was_settled{true, {}};
        if (is<seal_receipt>(action)) answer = receipt_was_sealed{};
        if (is<await_arm_event>(action)) {
            const bool warming = machine.step() == run_step::warming;
            const arm_record& arm = machine.document().arms.back();
            const arm_phase phase = warming ? arm_phase::warmup : arm_phase::measure;
            const int have = static_cast<int>(warming ? arm.warmup.size() : arm.steps.size());
            const int asked = warming ? machine.document().request.warmup : machine.document().request.steps;
            answer = have < asked ? steps(phase, have, 1) : done(phase, asked);
        }
        action = machine.resume(answer, guard);
    }
    FAIL("the machine never ends");
    return run_state::failed;
}

run_event claimed() {
    return run_claimed{machine_facts{}, environment_snapshot{}};
}

}  // namespace

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
