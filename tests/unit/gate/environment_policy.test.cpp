#include "gate/environment_policy.hpp"

#include <doctest/doctest.h>

using namespace assay;

namespace {

environment_policy shipped(const std::string& name) {
    return load_environment_policy(std::string(ASSAY_SOURCE_DIR) + "/orchestrator/gate/policies", name,
                                   policy_source::names_only)
        .value();
}

environment_snapshot quiet_machine() {
    environment_snapshot snapshot;
    snapshot.power_source = "ac";
    snapshot.thermal_state = "nominal";
    snapshot.load_average_1m = 0.4;
    snapshot.memory_available_fraction = 0.7;
    snapshot.disk_free_gib = 100;
    snapshot.other_browsers = 0;
    snapshot.uptime_seconds = 86400;
    snapshot.asleep_seconds = 0;
    snapshot.cpu_governor = "performance";
    snapshot.cross_origin_isolated = true;
    snapshot.visibility = "visible";
    snapshot.timer_quantum_us = 5;
    return snapshot;
}

}  // namespace

TEST_CASE("a quiet machine passes every shipped environment policy without a warning") {
    for (const char* name : {"default", "strict", "none"}) {
        const auto decision = judge_environment(shipped(name), quiet_machine(), 8);
        CHECK_MESSAGE(decision.accepted, name);
        CHECK_MESSAGE(decision.warnings.empty(), name);
    }
}

TEST_CASE("a page whose clock is coarse, hidden or not isolated is refused by default") {
    auto snapshot = quiet_machine();
    snapshot.timer_quantum_us = 100;
    snapshot.visibility = "hidden";
    snapshot.cross_origin_isolated = false;
    const auto decision = judge_environment(shipped("default"), snapshot, 8);
    CHECK_FALSE(decision.accepted);
    REQUIRE_EQ(decision.reasons.size(), 3);
    CHECK_EQ(decision.reasons[0].code, "environment-cross-origin-isolated");
    CHECK_EQ(decision.reasons[1].code, "environment-timer-quantum-us");
    CHECK_EQ(decision.reasons[1].facts.at("timer_quantum_us"), "100");
    CHECK_EQ(decision.reasons[2].code, "environment-visibility");
}

TEST_CASE("battery warns by default and refuses where the policy is strict") {
    auto snapshot = quiet_machine();
    snapshot.power_source = "battery";
    const auto lenient = judge_environment(shipped("default"), snapshot, 8);
    CHECK(lenient.accepted);
    REQUIRE_EQ(lenient.warnings.size(), 1);
    CHECK_EQ(lenient.warnings[0].code, "environment-power-source");
    CHECK_FALSE(judge_environment(shipped("strict"), snapshot, 8).accepted);
}

TEST_CASE("a required fact that is not known refuses unless the policy accepts the unknown") {
    environment_policy policy;
    policy.rules["disk_free_gib"] = {rule_level::require, {}, 1.0, std::nullopt, false};
    CHECK_FALSE(judge_environment(policy, {}, 8).accepted);
    policy.rules["disk_free_gib"].unknown_is_met = true;
    CHECK(judge_environment(policy, {}, 8).accepted);
}

TEST_CASE("load is judged per core") {
    auto snapshot = quiet_machine();
    snapshot.load_average_1m = 6;
    CHECK(judge_environment(shipped("strict"), snapshot, 8).accepted);
    CHECK_FALSE(judge_environment(shipped("strict"), snapshot, 2).accepted);
}

TEST_CASE("a machine that slept during the run is refused") {
    auto snapshot = quiet_machine();
    snapshot.asleep_seconds = 40;
    CHECK_FALSE(judge_environment(shipped("default"), snapshot, 8).accepted);
}
