// A receipt of a run that failed before its first arm, as the service makes it: it verifies.
#pragma once

#include <string>

#include "analysis/paired_statistics.hpp"
#include "analysis/verdict.hpp"
#include "contract/receipt.hpp"

namespace assay::test {

/// Of no machine; a caller that needs one adds it.
inline receipt failed_receipt(std::string id, std::string run, std::string created_at = "2026-11-30T21:00:00.000Z") {
    receipt document;
    document.id = std::move(id);
    document.run_id = std::move(run);
    document.created_at = std::move(created_at);
    document.request = parse_run_request(R"({"preset":"smoke"})").value();
    document.model = {document.request.model, parameter_count(document.request.model),
                      flops_per_step(document.request.model)};
    fill_figures(document);
    document.verdict = judge(document, document.analysis, gate_outcome{}, budgets{},
                             {{"run-browser-crashed", "The browser crashed", {}}});
    return document;
}

}  // namespace assay::test
