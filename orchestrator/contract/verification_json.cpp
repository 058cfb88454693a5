#include "contract/verification_json.hpp"

#include <nlohmann/json.hpp>

namespace assay {

std::string chain_fault_text(const chain_report& report) {
    const nlohmann::ordered_json out{{"chain_fault", report.fault},
                                     {"machine_id", report.machine_id},
                                     {"sequence", report.sequence},
                                     {"message", report.message}};
    return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string verification_text(const verification_report& report) {
    nlohmann::ordered_json out{{"file", report.file}, {"valid", report.valid}, {"reasons", report.reasons}};
    const auto add = [&out](const char* name, const std::optional<std::string>& value) {
        if (value && !value->empty()) out[name] = *value;
    };
    if (!report.remarks.empty()) out["remarks"] = report.remarks;
    add("key_id", report.key_id);
    add("file_sha256", report.file_sha256);
    add("receipt_id", report.receipt_id);
    add("verdict", report.verdict);
    add("machine_id", report.machine_id);
    add("created_at", report.created_at);
    return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace assay
