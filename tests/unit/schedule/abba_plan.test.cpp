#include "schedule/abba_plan.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

std::string plan_text(int quadruples, std::uint64_t seed, bool randomise = true) {
    const auto plan = assay::make_plan(quadruples, seed, randomise);
    return {plan.begin(), plan.end()};
}

}  // namespace

TEST_CASE("a run of one quadruple is ABBA whatever the seed") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) CHECK(plan_text(1, seed) == "ABBA");
}

TEST_CASE("no quadruples, or fewer, give an empty plan") {
    CHECK(plan_text(0, 42).empty());
    CHECK(plan_text(-3, 42).empty());
}

TEST_CASE("without randomisation every quadruple is ABBA") { CHECK(plan_text(3, 42, false) == "ABBAABBAABBA"); }

TEST_CASE("the same seed gives the same plan and seeds differ") {
    CHECK(plan_text(12, 42) == plan_text(12, 42));
    CHECK(plan_text(40, 42) != plan_text(40, 43));
}

TEST_CASE("both orders are equally common in every pair of quadruples") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const std::string plan = plan_text(10, seed);
        for (std::size_t pair = 0; pair < 5; ++pair) {
            const std::string both = plan.substr(8 * pair, 8);
            CHECK((both == "ABBABAAB" || both == "BAABABBA"));
        }
    }
}

TEST_CASE("either order comes first in about half of the seeds") {
    int abba = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) abba += plan_text(2, seed).starts_with("ABBA") ? 1 : 0;
    CHECK(abba > 430);
    CHECK(abba < 570);
}

TEST_CASE("a longer plan begins with the shorter one, so that quadruples can be added") {
    const std::string longest = plan_text(200, 7);
    for (int quadruples = 2; quadruples < 200; ++quadruples)
        CHECK(longest.starts_with(plan_text(quadruples, 7)));
}
