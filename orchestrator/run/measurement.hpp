// One claimed run from its row to its stored receipt: shared by `assay run`, `assay serve` and the agent.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/random.hpp"
#include "core/run_blocking.hpp"
#include "run/corpus.hpp"
#include "run/home.hpp"
#include "run/receipt_recorder.hpp"
#include "run/run_executor.hpp"

namespace assay {

/// The gate of a request, or why its policy cannot be had.
using gate_factory = std::function<result<gate_judge>(const run_request&)>;

/// What measuring needs; everything is owned by main and outlives the runs.
struct measurement_services {
    run_services run;
    run_store* store = nullptr;
    work_executor* store_thread = nullptr;
    const receipt_recorder* recorder = nullptr;
    random_source* random = nullptr;
    home_layout home;
    gate_factory gate;
    int default_threads = 1;
    /// The longest silence while an arm runs steps; the first step may compile.
    std::chrono::milliseconds silence_limit{120'000};
};

inline constexpr std::chrono::seconds run_lease{60};

/// Runs a row that this process has claimed, files its receipt and ends the row. Every way to end but a lost database or
/// a full disk leaves a receipt. `corpus_file` overrides the request's corpus (the command line alone takes paths).
task<result<recorded_receipt>> measure(measurement_services* services, run_row row,
                                       std::shared_ptr<stop_signal> stop, std::string corpus_file);

/// Ends the rows that an earlier process of this machine left running: each gets the receipt that was filed for it, or
/// one with the verdict failed and the reason interrupted. Call under the measurement lock.
task<result<int>> seal_interrupted_runs(measurement_services* services);

}  // namespace assay
