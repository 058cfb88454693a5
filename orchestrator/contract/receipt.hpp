// The receipt's inner document, as protocols/schemas/receipt.schema.json lays it out. What was not measured is absent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/adapter.hpp"
#include "contract/arm_event.hpp"
#include "contract/environment.hpp"
#include "contract/model.hpp"
#include "contract/run_request.hpp"
#include "core/result.hpp"

namespace assay {

inline constexpr std::string_view receipt_schema = "assay.receipt/1.0";

enum class evidence_class { measured, derived, observed, historical, projected, not_measured };
std::string_view evidence_name(evidence_class evidence);

enum class verdict_result { verified, unqualified, refused, inconclusive, invalid, failed };
std::string_view verdict_name(verdict_result verdict);

/// One reason: a stable code, one sentence, and the numbers or facts behind it as text by name.
struct reason {
    std::string code;
    std::string message;
    std::map<std::string, std::string> facts;
    bool operator==(const reason&) const = default;
};

struct step_sample {
    double wall_ms = 0;
    double loss = 0;
    std::optional<double> gpu_ms;
    bool operator==(const step_sample&) const = default;
};

/// One block: one arm's run in its own Chrome.
struct arm_record {
    std::string arm;
    char block = 'A';  ///< 'A' or 'B'
    int quadruple = 0;
    int position = 0;  ///< 0..3 within the quadruple
    std::optional<int> threads;
    std::optional<adapter_views> adapter_before, adapter_after;
    std::optional<environment_snapshot> environment_before, environment_after;
    std::vector<step_sample> warmup;
    std::vector<step_sample> steps;
    std::optional<double> cold_start_ms;               ///< the parts' sum
    std::map<std::string, double> cold_start_parts_ms;
    std::optional<int> dispatches_per_step;
    std::optional<std::string> wait;
    std::optional<double> gpu_timestamp_quantum_ns;
    std::optional<double> pipelined_step_ms;
    std::optional<double> median_step_ms;
    std::optional<double> final_loss;
    std::map<std::string, variant_value> variant;
    std::optional<std::string> weights_sha256, batches_sha256, corpus_sha256;
    /// launching (of it launch_process, open_page), gating, preparing, warming, measuring, closing (of it close_process);
    /// before it, where asked for: pausing, settling
    std::map<std::string, double> phases_ms;
    std::optional<bool> settled;        ///< whether load and temperature were back before it; absent: not asked for
    std::optional<bool> warmup_stable;  ///< whether warm-up became stable within its bound; absent: not asked for
    std::vector<std::string> errors;          ///< "code: message", empty when all went well
    std::vector<std::string> console;         ///< bounded: the last lines the page wrote
    bool operator==(const arm_record&) const = default;
};

struct browser_facts {
    std::string product;  ///< "Chrome/156.0.8078.114"
    std::string path;
    std::string user_agent;
    std::string javascript_version;
    std::vector<std::string> switches;  ///< the exact command line after the binary, the profile's path replaced by "<profile>"
    bool operator==(const browser_facts&) const = default;
};

struct input_digests {
    std::optional<std::string> weights_sha256, batches_sha256, corpus_sha256;
    std::map<std::string, std::string> assets;  ///< served path -> SHA-256
    bool operator==(const input_digests&) const = default;
};

struct model_facts {
    model_shape shape;
    std::uint64_t parameters = 0;
    double flops_per_step = 0;
    bool operator==(const model_facts&) const = default;
};

/// Every figure recomputed from `arms` by analysis; absent where the samples do not allow it.
struct analysis_facts {
    std::optional<double> a_median_ms, b_median_ms;
    std::optional<double> speedup;                      ///< exp(mean d): A's time over B's
    std::optional<std::pair<double, double>> interval95;
    std::optional<double> max_loss_drift;               ///< a fraction
    std::optional<double> repeat_spread_a, repeat_spread_b;
    int quadruples = 0;
    std::map<std::string, double> details;              ///< further figures by name, see docs/receipt.md
    std::vector<std::string> notes;
    bool operator==(const analysis_facts&) const = default;
};

struct verdict_facts {
    verdict_result result = verdict_result::failed;
    std::optional<std::string> precision;  ///< "interval" or "spread"
    std::vector<reason> reasons;
    bool operator==(const verdict_facts&) const = default;
};

struct chain_link {
    std::optional<std::string> previous_sha256;  ///< of the machine's previous receipt file; absent for its first
    std::uint64_t sequence = 0;                  ///< 0 for the machine's first
    /// Whose chain it is: the machine that signed, also where it measured nothing (published figures).
    std::optional<std::string> machine_id;
    bool operator==(const chain_link&) const = default;
};

struct receipt {
    std::string schema{receipt_schema};
    std::string id;
    std::string run_id;
    std::string created_at;
    evidence_class evidence = evidence_class::measured;
    run_request request;
    std::optional<machine_facts> machine;
    std::optional<browser_facts> browser;
    std::optional<environment_snapshot> environment;  ///< before the first arm
    std::optional<adapter_views> adapter;             ///< as first seen
    input_digests inputs;
    model_facts model;
    std::vector<char> plan;                           ///< 'A','B','B','A', ...
    std::vector<arm_record> arms;                     ///< in the order they ran
    analysis_facts analysis;
    verdict_facts verdict;
    std::map<std::string, double> phases_ms;          ///< the whole run by phase
    std::optional<double> total_ms;                   ///< from claim to analysis: the sum of phases_ms
    std::optional<double> overhead_ms;                ///< total_ms less the wall time of the timed steps
    chain_link chain;
    std::optional<std::string> nonce;                 ///< the request's
    std::vector<std::string> notes;
    bool operator==(const receipt&) const = default;
};

/// The id of the machine whose chain the receipt belongs to; empty where it names none.
std::string chain_owner(const receipt& document);

/// Reads an inner receipt. An unknown major version is refused by name; unknown fields of a newer minor are kept out.
result<receipt> parse_receipt(std::string_view json_text);
/// Compact JSON of an inner receipt; throws only on a bug (a non-finite number).
std::string receipt_text(const receipt& document);

}  // namespace assay
