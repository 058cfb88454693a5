// The API's documents as JSON text.
#pragma once

#include <string>

#include "run/ports.hpp"

namespace assay::http {

/// {"id", "state", "phase", "request", "label", "created_at", ..., "links"}.
std::string run_document(const run_row& run);
std::string run_list_document(const run_page& page);
std::string receipt_summary_document(const receipt_summary& summary);
std::string receipt_list_document(const receipt_page& page);

}  // namespace assay::http
