#include "run/settling.hpp"

#include <doctest/doctest.h>

using namespace assay;

namespace {

environment_snapshot machine_at(std::optional<double> load, std::optional<double> celsius = std::nullopt) {
    environment_snapshot out;
    out.load_average_1m = load;
    out.temperature_celsius = celsius;
    return out;
}

std::vector<step_sample> steps_of(std::initializer_list<double> wall_ms) {
    std::vector<step_sample> out;
    for (const double time : wall_ms) out.push_back({time, 1, {}});
    return out;
}

}  // namespace

TEST_CASE("a machine is settled when load per core and temperature are back near where they were") {
    CHECK(machine_is_settled(machine_at(0.1, 45), machine_at(0.4, 47), 4));
    CHECK_FALSE(machine_is_settled(machine_at(0.1, 45), machine_at(0.6, 47), 4));
    CHECK(machine_is_settled(machine_at(0.1, 45), machine_at(0.6, 47), 8));
    CHECK_FALSE(machine_is_settled(machine_at(0.1, 45), machine_at(0.1, 49), 4));
    CHECK(machine_is_settled(machine_at(3, 70), machine_at(0.1, 45), 4));
}

TEST_CASE("what a system cannot tell is no reason to wait, but a throttling machine is") {
    CHECK(machine_is_settled(machine_at({}), machine_at({}), 1));
    CHECK(machine_is_settled(machine_at(0.1), machine_at({}), 1));
    environment_snapshot hot = machine_at({});
    hot.thermal_state = "serious";
    CHECK_FALSE(machine_is_settled(machine_at({}), hot, 1));
    hot.thermal_state = "nominal";
    CHECK(machine_is_settled(machine_at({}), hot, 1));
}

TEST_CASE("warm-up is stable when two blocks in a row have the same median") {
    CHECK_FALSE(warmup_is_stable(steps_of({10, 10, 10}), 2, 0.05));
    CHECK(warmup_is_stable(steps_of({10, 10, 10, 10}), 2, 0.05));
    CHECK_FALSE(warmup_is_stable(steps_of({20, 20, 10, 10}), 2, 0.05));
    CHECK(warmup_is_stable(steps_of({90, 50, 10, 10, 10.4, 10.2}), 2, 0.05));
    CHECK_FALSE(warmup_is_stable(steps_of({10, 10, 10, 12, 12, 12}), 3, 0.05));
    // One slow step in a block is not the block's median.
    CHECK(warmup_is_stable(steps_of({10, 10, 90, 10, 10, 10}), 3, 0.05));
}

TEST_CASE("how a wait ended is told in words") {
    CHECK(settling_text(machine_at(0.1, 48), machine_at(0.42, 61)) ==
          "load 0.42 (0.10 at the start), 61.0 C (48.0 C at the start)");
    CHECK(settling_text(machine_at({}), machine_at({})) == "nothing of it can be read here");
}
