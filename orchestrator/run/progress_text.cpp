#include "run/progress_text.hpp"

#include "contract/progress.hpp"

namespace assay {

std::vector<run_progress> progress_of(const run_fsm& machine, const run_event& event) {
    std::vector<run_progress> out;
    const receipt& document = machine.document();
    if (const auto* said = std::get_if<arm_said>(&event)) {
        if (const auto* steps = std::get_if<steps_event>(&said->event.body)) {
            const bool warming = steps->phase == arm_phase::warmup;
            out.push_back({document.run_id, "steps",
                           progress_text(progress_steps{
                               document.run_id, machine.current_arm(), warming ? "warmup" : "measure",
                               machine.arm_index(), machine.arm_count(), machine.steps_before() + steps->first,
                               warming ? document.request.warmup : document.request.steps, steps->wall_ms,
                               steps->loss})});
            return out;
        }
    }
    if (const auto* failed = std::get_if<operation_failed>(&event))
        out.push_back({document.run_id, "log",
                       progress_text(progress_log{document.run_id, "error", failed->cause.text()})});
    if (const auto* cancel = std::get_if<cancel_asked>(&event))
        out.push_back({document.run_id, "log", progress_text(progress_log{document.run_id, "warning", cancel->why})});
    if (std::holds_alternative<phase_was_started>(event) || std::holds_alternative<run_claimed>(event) ||
        std::holds_alternative<arm_was_opened>(event) || std::holds_alternative<arm_was_prepared>(event) ||
        std::holds_alternative<arm_was_checked>(event) || std::holds_alternative<arm_was_closed>(event)) {
        progress_state state;
        state.run = document.run_id;
        state.state = "running";
        state.phase = run_step_name(machine.step());
        state.arm = machine.arm_index() >= 0 ? machine.current_arm() : std::string();
        state.arm_index = machine.arm_index();
        state.arm_count = machine.arm_count();
        out.push_back({document.run_id, "state", progress_text(state)});
    }
    return out;
}

}  // namespace assay
