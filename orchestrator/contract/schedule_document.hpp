// A schedule: when which runs are asked for. protocols/openapi.yaml describes its JSON form.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/run_request.hpp"
#include "core/result.hpp"

namespace assay {

inline constexpr std::string_view schedules_kind = "schedules";  ///< what the store calls these documents
inline constexpr std::size_t max_scheduled_runs = 64;            ///< presets times arm pairs

/// What a caller gives, and what the service keeps beside it.
struct schedule_document {
    std::string name;
    std::string cron;
    std::string time_zone = "UTC";
    std::vector<std::string> labels;    ///< a machine must have all of them
    std::vector<run_request> requests;  ///< the matrix, expanded and validated
    std::string template_text;          ///< "request" as given
    std::string matrix_text;            ///< "matrix" as given; empty without one
    std::optional<int> keep_days;       ///< how long its ended runs and their receipts are kept
    bool paused = false;
    // kept by the service
    std::string id;
    std::string created_at;
    std::string checked_until;              ///< every due time up to here has been dealt with
    std::optional<std::string> last_due;    ///< the due time that was last fired
    std::optional<std::string> last_fired;  ///< when that happened
    int missed = 0;                         ///< due times left out since then, because the service was not running
};

/// Reads {"name", "cron", "time_zone", "labels", "request", "matrix": {"presets", "arms"}, "keep_days", "paused"}. The
/// matrix replaces the request's preset and arms by every combination. The cron expression itself is checked by
/// schedule/.
result<schedule_document> parse_schedule(std::string_view json_text);
/// Reads what stored_schedule_text wrote.
result<schedule_document> parse_stored_schedule(std::string_view json_text);
std::string stored_schedule_text(const schedule_document& schedule);

}  // namespace assay
