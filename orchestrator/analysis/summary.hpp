// A receipt on a terminal.
#pragma once

#include <string>

#include "contract/receipt.hpp"

namespace assay {

/// The summary that `assay run` prints: what ran, one line a block (median, spread, loss), the ratio, the drift, the
/// verdict and its reasons. Plain text in aligned columns; `colour` adds ANSI colours to the verdict only.
std::string summary_text(const receipt& document, bool colour);

/// The ratio with what stands behind it, in words: "10.67x, 95 % interval 10.41 to 10.94 (5 quadruples)".
std::string ratio_text(const analysis_facts& analysis);

}  // namespace assay
