#include "run/ports.hpp"

namespace assay {

std::string_view run_state_name(run_state state) {
    switch (state) {
        case run_state::queued: return "queued";
        case run_state::running: return "running";
        case run_state::done: return "done";
        case run_state::failed: return "failed";
        case run_state::cancelled: return "cancelled";
        case run_state::interrupted: return "interrupted";
    }
    return "failed";
}

}  // namespace assay
