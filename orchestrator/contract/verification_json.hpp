// What `assay verify --json` prints for one file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay {

struct verification_report {
    std::string file;
    bool valid = false;
    std::vector<std::string> reasons;
    std::string key_id, file_sha256;
    std::optional<std::string> receipt_id, verdict, machine_id, created_at;
};

/// One JSON object on one line.
std::string verification_text(const verification_report& report);

}  // namespace assay
