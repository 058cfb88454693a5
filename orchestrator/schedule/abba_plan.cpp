#include "schedule/abba_plan.hpp"

#include <string_view>

#include "core/random.hpp"

namespace assay {
namespace {

// Keeps the plan's random numbers apart from any other use of the same seed.
constexpr std::uint64_t plan_domain = 0x41626261506c616eULL;

}  // namespace

std::vector<char> make_plan(int quadruples, std::uint64_t seed, bool randomise) {
    constexpr std::string_view abba = "ABBA";
    constexpr std::string_view baab = "BAAB";
    std::vector<char> plan;
    if (quadruples < 1) return plan;
    plan.reserve(4 * static_cast<std::size_t>(quadruples));
    seeded_random random(seed ^ plan_domain);
    bool abba_first = true;
    for (int i = 0; i < quadruples; ++i) {
        if (i % 2 == 0 && randomise && quadruples > 1) abba_first = random.below(2) == 0;
        const bool is_abba = !randomise || (i % 2 == 0) == abba_first;
        const std::string_view order = is_abba ? abba : baab;
        plan.insert(plan.end(), order.begin(), order.end());
    }
    return plan;
}

}  // namespace assay
