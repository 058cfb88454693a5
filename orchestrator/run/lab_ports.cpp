#include "run/lab_ports.hpp"

#include <array>

namespace assay {

std::string_view machine_state_name(machine_state state) {
    switch (state) {
        case machine_state::pending:
            return "pending";
        case machine_state::active:
            return "active";
        case machine_state::draining:
            return "draining";
        case machine_state::quarantined:
            return "quarantined";
        case machine_state::maintenance:
            return "maintenance";
    }
    return "pending";
}

std::optional<machine_state> machine_state_of_name(std::string_view name) {
    constexpr std::array all = {machine_state::pending, machine_state::active, machine_state::draining,
                                machine_state::quarantined, machine_state::maintenance};
    for (const auto state : all)
        if (machine_state_name(state) == name) return state;
    return std::nullopt;
}

}  // namespace assay
