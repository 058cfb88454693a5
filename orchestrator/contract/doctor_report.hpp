// What `assay doctor` found, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/receipt.hpp"

namespace assay {

struct doctor_browser {
    std::string channel, path;
    std::optional<std::string> version;
    bool chosen = false;
};

struct doctor_report {
    machine_facts machine;
    environment_snapshot environment;
    std::vector<doctor_browser> browsers;
    std::optional<browser_facts> browser;   ///< of the one that was launched
    adapter_views adapter;
    std::optional<page_facts> page;
    std::string adapter_class;              ///< "hardware", "software" or "none"
    std::string policy;
    bool accepted = false;                  ///< what the gate would say of the policy
    std::vector<reason> reasons;            ///< why not, and warnings
    std::vector<std::string> advice;        ///< what to do about it, one sentence each
    std::optional<std::string> failure;     ///< why the browser could not be asked
};

/// One JSON object.
std::string doctor_json_text(const doctor_report& report);
/// Aligned lines for a terminal.
std::string doctor_text(const doctor_report& report);

}  // namespace assay
