#include "core/result.hpp"

namespace assay {

std::string_view code_name(error_code code) {
    switch (code) {
        case error_code::invalid_argument: return "invalid-argument";
        case error_code::not_found: return "not-found";
        case error_code::conflict: return "conflict";
        case error_code::too_large: return "too-large";
        case error_code::queue_full: return "queue-full";
        case error_code::unauthorized: return "unauthorized";
        case error_code::forbidden: return "forbidden";
        case error_code::unsupported_version: return "unsupported-version";
        case error_code::signature_invalid: return "signature-invalid";
        case error_code::corrupt: return "corrupt";
        case error_code::deadline_exceeded: return "deadline-exceeded";
        case error_code::cancelled: return "cancelled";
        case error_code::browser_not_found: return "browser-not-found";
        case error_code::browser_launch_failed: return "browser-launch-failed";
        case error_code::browser_crashed: return "browser-crashed";
        case error_code::page_failed: return "page-failed";
        case error_code::arm_failed: return "arm-failed";
        case error_code::protocol_error: return "protocol-error";
        case error_code::io_error: return "io-error";
        case error_code::unavailable: return "unavailable";
        case error_code::internal: return "internal";
    }
    return "internal";
}

std::string error::text() const {
    std::string out;
    if (!field.empty()) out += field + ": ";
    out += message;
    if (!remedy.empty()) {
        if (!out.empty() && out.back() != '.' && out.back() != '!') out += '.';
        out += " " + remedy;
    }
    return out;
}

void throw_exception_from_error(const error& cause, const boost::source_location&) { throw error_exception(cause); }

}  // namespace assay
