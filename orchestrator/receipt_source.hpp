// Receipts named on the command line: a file, a receipt's id, or a machine (its newest receipt).
#pragma once

#include <optional>
#include <string>

#include "contract/receipt.hpp"
#include "core/result.hpp"

namespace assay {

/// Where ids and machines are looked up.
struct receipt_source {
    std::optional<std::string> home;   ///< default: the home
    std::optional<std::string> store;  ///< default: the home's
};

/// The receipt that `named` names. A file must verify: what has been changed is not compared or exported. An id is
/// looked up in the home's receipts, then in the store; anything else is a machine's name or id.
result<receipt> load_receipt(const receipt_source& source, const std::string& named);

}  // namespace assay
