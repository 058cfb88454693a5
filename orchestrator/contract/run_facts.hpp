// The API's run documents as a client reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/progress.hpp"
#include "core/result.hpp"

namespace assay {

/// What the command line shows of a run; the answer to a new run holds its id and state alone. Fields that this build does not know are passed over: the server may be newer.
struct run_facts {
    std::string id, state, created_at;
    std::optional<std::string> phase, label, started_at, ended_at, receipt_id, error;
    std::string preset;             ///< "custom" where the model has a size of its own
    std::vector<std::string> arms;
};
struct run_facts_page {
    std::vector<run_facts> runs;  ///< newest first
    std::optional<std::string> next;
};

/// Errors are protocol_error: the answer is not what the API promises.
result<run_facts> parse_run_facts(std::string_view json_text);
result<run_facts_page> parse_run_facts_page(std::string_view json_text);

/// The data of a live event by its kind; protocol_error where it is something else.
result<progress_state> parse_progress_state(std::string_view json_text);
result<progress_steps> parse_progress_steps(std::string_view json_text);
result<progress_log> parse_progress_log(std::string_view json_text);

}  // namespace assay
