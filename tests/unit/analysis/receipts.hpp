// Receipts built for tests: as a run would leave them, with whatever samples a test asks for.
#pragma once

#include <string>
#include <vector>

#include "analysis/paired_statistics.hpp"
#include "analysis/verdict.hpp"
#include "contract/receipt.hpp"

namespace assay::test {

inline arm_record block_of(char block, int quadruple, int position, std::vector<double> times,
                           std::vector<double> losses = {}) {
    arm_record out;
    out.arm = block == 'A' ? "wasm-simd-mt" : "webgpu";
    out.block = block;
    out.quadruple = quadruple;
    out.position = position;
    for (std::size_t i = 0; i < times.size(); ++i)
        out.steps.push_back({times[i], i < losses.size() ? losses[i] : 5.5 - 0.125 * static_cast<double>(i), {}});
    out.weights_sha256 = std::string(64, '1');
    out.batches_sha256 = std::string(64, '2');
    out.corpus_sha256 = std::string(64, '3');
    return out;
}

/// A run of quadruples "ABBA" whose k-th block has `medians[k]` for the time of each of its `steps` steps; figures and
/// verdict filled in as the run does.
inline receipt receipt_of(const std::vector<double>& medians, int steps = 3) {
    receipt out;
    out.id = "01KBBW3XM3B1C2D3E4F5G6H7J8";
    out.created_at = "2026-11-30T21:37:27Z";
    out.request.preset = "smoke";
    out.request.steps = steps;
    out.request.randomise_order = false;
    out.request.quadruples.count = static_cast<int>(medians.size() / 4);
    (void)validate(out.request);
    out.model = {out.request.model, parameter_count(out.request.model), flops_per_step(out.request.model)};
    for (std::size_t i = 0; i < medians.size(); ++i) {
        const char block = "ABBA"[i % 4];
        out.plan.push_back(block);
        out.arms.push_back(block_of(block, static_cast<int>(i / 4), static_cast<int>(i % 4),
                                    std::vector<double>(static_cast<std::size_t>(steps), medians[i])));
    }
    fill_figures(out);
    return out;
}

inline verdict_facts verdict_of(receipt& document, const gate_outcome& gate = {},
                                const std::vector<reason>& failures = {}) {
    fill_figures(document);
    return judge(document, document.analysis, gate, {}, failures);
}

inline bool has_code(const verdict_facts& verdict, std::string_view code) {
    for (const reason& item : verdict.reasons)
        if (item.code == code) return true;
    return false;
}

}  // namespace assay::test
