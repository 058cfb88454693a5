// The thin shell around run_fsm: performs each action through the ports and answers with what happened.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "run/ports.hpp"
#include "run/run_fsm.hpp"

namespace assay {

/// Asks a run to stop; safe from any thread. The executor sees it within `poll_interval`, in every state.
class stop_signal {
  public:
    void cancel() { state_.store(1); }
    void interrupt() { state_.store(2); }
    bool asked() const { return state_.load() != 0; }
    bool interrupted() const { return state_.load() == 2; }

  private:
    std::atomic<int> state_{0};
};

struct run_services {
    arm_launcher* launcher = nullptr;
    page_server* pages = nullptr;
    environment_reader* environment = nullptr;
    const clock* time = nullptr;
    progress_sink* progress = nullptr;  ///< may be null
};

struct run_outcome {
    receipt document;  ///< complete but for the chain and the signature
    run_state state = run_state::failed;
};

/// Runs one request to its end. Never throws for expected failures; the arm it opened is closed whatever happens. The
/// caller signs and stores the document (see receipt_recorder.hpp).
task<run_outcome> execute_run(run_services services, run_settings settings, std::shared_ptr<stop_signal> stop,
                              std::function<void(const run_fsm&)> on_step);

}  // namespace assay
