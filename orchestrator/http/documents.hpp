// The API's documents as JSON text.
#pragma once

#include <span>
#include <string>

#include "contract/receipt.hpp"
#include "run/ports.hpp"

namespace assay::http {

/// {"id", "state", "phase", "request", "label", "created_at", ..., "links"}.
std::string run_document(const run_row& run);
std::string run_list_document(const run_page& page);
std::string receipt_summary_document(const receipt_summary& summary);
std::string receipt_list_document(const receipt_page& page);

/// A figure that may be drawn: it exists and its receipt is neither damaged nor without a result.
bool has_figure(const receipt_summary& summary);
/// One point of a curve or a trend.
std::string point_document(const receipt_summary& summary);
/// {"points": [...]}: those receipts that have a figure.
std::string curve_document(std::span<const receipt_summary> receipts);
/// {"machines": [...]}: who measured, when last, and how many receipts.
std::string machine_list_document(std::span<const receipt_summary> newest_first);

/// A receipt as a comparison needs it.
struct compared_receipt {
    receipt document;
    receipt_summary summary;
};
/// {"comparable", "reasons", "differences", "ratio", ..., "a", "b"}: `second` against `first`, the baseline.
std::string comparison_document(const compared_receipt& first, const compared_receipt& second);

}  // namespace assay::http
