// Figures that somebody published, without their raw samples: kept apart from every measurement.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/receipt.hpp"
#include "core/result.hpp"

namespace assay {

/// One published figure.
struct published_figure {
    evidence_class evidence = evidence_class::historical;  ///< never measured or derived
    std::string preset;
    std::vector<std::string> arms;  ///< A, the baseline, then B
    std::optional<double> speedup;
    std::optional<double> a_median_ms, b_median_ms;
    std::optional<double> max_loss_drift;  ///< a fraction
    std::optional<std::string> browser;
    std::optional<page_adapter> adapter;
    std::vector<std::string> notes;
};

/// A file of them: protocols/schemas/published-history.schema.json.
struct published_history {
    std::string source;  ///< who published it, in words; becomes the first note of every receipt
    std::vector<published_figure> figures;
};

/// Reads such a file, strictly.
result<published_history> parse_published_history(std::string_view json_text);

/// The receipt of one figure: no machine, no samples, no plan; an unqualified verdict that names the evidence class.
/// `id` and `created_at` (UTC) are those of the import.
receipt published_receipt(const published_history& history, const published_figure& figure, std::string id,
                          std::string created_at);

}  // namespace assay
