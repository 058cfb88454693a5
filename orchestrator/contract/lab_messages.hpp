// What an agent and its hub say to each other, as JSON: parsed once, at the edge, on both sides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace assay {

/// POST /api/v1/lab/machines: an agent says who it is.
struct machine_registration {
    std::string machine_id;  ///< 16 hexadecimal digits
    std::string public_key;  ///< base 64
    std::string name;
    std::vector<std::string> labels;
    std::string facts_text = "{}";  ///< a JSON object, kept as it is
    /// Certificates of this machine's key rotations: by them a hub that knows an earlier key accepts `public_key`.
    std::vector<std::string> rotations;
};
std::string registration_text(const machine_registration& message);
result<machine_registration> parse_registration(std::string_view json_text);

/// POST /api/v1/leases: an agent asks for work and waits for it.
struct lease_request {
    std::string machine_id;
    int wait_ms = 0;  ///< 0..60000
};
std::string lease_request_text(const lease_request& message);
result<lease_request> parse_lease_request(std::string_view json_text);

/// The hub's answer: one run for this machine.
struct lease_grant {
    std::string run, request_text;
    std::optional<std::string> label;
    std::int64_t fencing_token = 0;
    int lease_seconds = 0;
    int attempt = 1;
    std::string created_at;
};
std::string lease_grant_text(const lease_grant& message);
result<lease_grant> parse_lease_grant(std::string_view json_text);

/// POST /api/v1/leases/{run}/heartbeat.
struct lease_heartbeat {
    std::int64_t fencing_token = 0;
    std::optional<std::string> phase;
};
std::string heartbeat_text(const lease_heartbeat& message);
result<lease_heartbeat> parse_heartbeat(std::string_view json_text);

/// Its answer.
struct heartbeat_answer {
    bool cancel = false;
};
std::string heartbeat_answer_text(const heartbeat_answer& message);
result<heartbeat_answer> parse_heartbeat_answer(std::string_view json_text);

/// POST /api/v1/leases/{run}/receipt: the file of that digest has been uploaded, and ends the run.
struct receipt_delivery {
    std::int64_t fencing_token = 0;
    std::string state;  ///< the run's: "done", "failed", "cancelled", "interrupted"
    std::string sha256;
};
std::string delivery_text(const receipt_delivery& message);
result<receipt_delivery> parse_delivery(std::string_view json_text);

/// POST /api/v1/leases/{run}/end: the run ended on its machine without a receipt that the hub can have.
struct lease_end {
    std::int64_t fencing_token = 0;
    std::string reason;  ///< for people; cut to max_reason_bytes when written
};
inline constexpr std::size_t max_reason_bytes = 2000;
std::string lease_end_text(const lease_end& message);
result<lease_end> parse_lease_end(std::string_view json_text);

/// POST /api/v1/leases/{run}/events.
struct progress_batch {
    struct event {
        std::string kind, data_text;  ///< `data_text` is a JSON object
    };
    std::vector<event> events;
};
inline constexpr std::size_t max_events_a_batch = 500;
std::string progress_batch_text(const progress_batch& message);
result<progress_batch> parse_progress_batch(std::string_view json_text);

/// POST /api/v1/lab/machines/{id}/state.
struct machine_state_change {
    std::string state, reason;
    std::optional<std::string> until;
};
result<machine_state_change> parse_machine_state_change(std::string_view json_text);

/// {"received": N}: how much of an upload is there.
std::string upload_progress_text(std::uint64_t received);
result<std::uint64_t> parse_upload_progress(std::string_view json_text);

/// A run in the agent's outbox or journal, on its disk.
struct agent_journal_entry {
    lease_grant grant;
    std::optional<receipt_delivery> delivery;  ///< set when the receipt waits for the hub
    std::string receipt_id;                    ///< of that receipt
    std::optional<std::string> end_reason;     ///< set when the hub has to hear that the run ended without a receipt
};
std::string journal_text(const agent_journal_entry& entry);
result<agent_journal_entry> parse_journal(std::string_view json_text);

/// The code and detail of a problem document; empty texts where it is none.
struct problem_facts {
    std::string code, detail;
};
problem_facts read_problem(std::string_view json_text);

}  // namespace assay
