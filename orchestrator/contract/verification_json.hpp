// What `assay verify --json` prints for one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct verification_report {
    std::string file;
    bool valid = false;
    std::vector<std::string> reasons;
    std::vector<std::string> remarks;  ///< what could not be checked
    std::string key_id, file_sha256;
    std::optional<std::string> receipt_id, verdict, machine_id, created_at;
};

/// What `assay verify --chain --json` prints for one fault of the chain.
struct chain_report {
    std::string fault;  ///< "gap", "fork", "broken-link" or "no-start"
    std::string machine_id;
    std::uint64_t sequence = 0;  ///< the place of the fault
    std::string message;
};

/// One JSON object on one line, told from a file's by its member "chain_fault".
std::string chain_fault_text(const chain_report& report);

/// One JSON object on one line.
std::string verification_text(const verification_report& report);

}  // namespace assay
