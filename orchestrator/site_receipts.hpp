// The receipts that a static site is to hold: found, read and verified before anything is written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "run/ports.hpp"

namespace assay {

/// Which receipts. Filters apply to named receipts and to the store's alike; an empty list lets everything pass.
struct site_choice {
    std::vector<std::string> named;  ///< files, folders of *.assay.json, or receipts' ids; empty: all of the store
    std::vector<std::string> verdicts, presets, machines, evidence;
    std::optional<std::string> home, store;  ///< where ids and the whole list are looked up; default: the home
};

/// One receipt of the site.
struct site_receipt {
    receipt_summary summary;
    std::string file_bytes;
};

/// What was found. Every fault names its file or id.
struct site_receipts {
    std::vector<site_receipt> chosen;  ///< newest first; each one verifies
    std::vector<error> faults;         ///< missing, unreadable, or not what it says
};

/// Reads and verifies. An error only where nothing at all can be looked up (no home, no store).
result<site_receipts> collect_site_receipts(const site_choice& choice);

}  // namespace assay
