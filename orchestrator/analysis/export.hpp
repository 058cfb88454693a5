// Receipts in the forms that other tools take. Pure: receipts in, text out.
#pragma once

#include <span>
#include <string>

#include "contract/receipt.hpp"

namespace assay {

/// One table of an export.
enum class export_table {
    steps,     ///< one row a step, warm-up apart by its phase
    arms,      ///< one row a block
    receipts,  ///< one row a receipt
};

/// CSV as RFC 4180 says: a header line, CRLF ends, quotes where needed. A value that was not measured is an empty
/// field. Text that a spreadsheet would take for a formula gets a leading apostrophe.
std::string export_csv(std::span<const receipt> receipts, export_table table);

/// JSON Lines: one object a row, the same names as the columns of the CSV; what was not measured is absent.
std::string export_json_lines(std::span<const receipt> receipts, export_table table);

/// A summary in GitHub-flavoured Markdown for a pull request: ratio, arms, verdict with its reasons.
std::string markdown_summary(const receipt& document);

/// An SVG badge whose text states preset, machine, ratio and verdict: never a bare number.
std::string svg_badge(const receipt& document);

}  // namespace assay
