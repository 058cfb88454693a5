#include "lab/hub_run_store.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "receipt/digest.hpp"

namespace assay::lab {
namespace {

constexpr auto upload_part_limit = std::chrono::seconds(60);

run_row row_of(const lease_grant& grant, const std::string& machine, const clock& time) {
    run_row row;
    row.id = grant.run;
    row.state = run_state::running;
    row.request_text = grant.request_text;
    row.label = grant.label;
    row.created_at = grant.created_at;
    row.started_at = format_utc(time.now());
    row.machine_id = machine;
    row.fencing_token = grant.fencing_token;
    row.attempt = grant.attempt;
    return row;
}

/// What is left to know of a run that has ended: who it was, under which claim.
lease_grant ended_grant(const run_id& id, std::int64_t fencing_token) {
    lease_grant grant;
    grant.run = id.text();
    grant.request_text = "{}";
    grant.fencing_token = fencing_token;
    grant.lease_seconds = 1;
    return grant;
}

error only_the_hub(std::string_view what) {
    return {error_code::unavailable, "an agent keeps no list of its own: ask the hub for " + std::string(what)};
}

/// The hub will never take it, however often it is sent. A token that is not good enough is no such verdict: people
/// mend tokens.
bool is_final(error_code code) {
    return code == error_code::conflict || code == error_code::not_found || code == error_code::invalid_argument ||
           code == error_code::too_large;
}

std::string lease_path(const std::string& run, std::string_view what) {
    return "/api/v1/leases/" + run + "/" + std::string(what);
}

}  // namespace

hub_run_store::hub_run_store(hub_client* client, outbox box, machine_registration self, const clock& time,
                             agent_timing timing)
    : client_(client),
      box_(std::move(box)),
      self_(std::move(self)),
      time_(time),
      timing_(timing),
      pause_(timing.first_pause) {}

void hub_run_store::back_off(const error& cause) {
    if (cause.code == error_code::cancelled) return;
    if (pause_ == timing_.first_pause) spdlog::warn("{}; trying again", cause.text());
    client_->pause(pause_);
    pause_ = std::min(pause_ * 2, timing_.longest_pause);
}

result<void> hub_run_store::register_self() {
    const auto answer = client_->call_json("POST", "/api/v1/lab/machines", registration_text(self_));
    if (!answer) return answer.error();
    if (answer->status >= 300) return error_of_answer(*answer, "the registration");
    registered_ = true;
    return {};
}

result<std::optional<run_row>> hub_run_store::claim(const machine_id& machine, const std::vector<std::string>&,
                                                    std::chrono::seconds) {
    const auto nothing = std::optional<run_row>();
    if (!registered_) {
        // Before the registration the hub may know this machine by an earlier key, which signed what waits here.
        deliver_waiting();
        if (auto done = register_self(); !done) {
            back_off(done.error());
            return nothing;
        }
    }
    if (deliver_waiting() > 0) return nothing;
    const lease_request wish{machine.text(), static_cast<int>(timing_.long_poll.count())};
    const auto answer = client_->call_json("POST", "/api/v1/leases", lease_request_text(wish),
                                           timing_.long_poll + std::chrono::seconds(15));
    if (!answer || (answer->status != 200 && answer->status != 204)) {
        const auto cause = answer ? error_of_answer(*answer, "the request for work") : answer.error();
        if (cause.code == error_code::not_found) registered_ = false;  // the hub's store is a new one
        back_off(cause);
        return nothing;
    }
    pause_ = timing_.first_pause;
    if (answer->status == 204) return nothing;
    const auto grant = parse_lease_grant(answer->body);
    if (!grant) return grant.error();
    // On disk before the first action: a run that dies with this process is then known to the next one.
    if (auto written = box_.begin(*grant); !written) return written.error();
    token_ = grant->fencing_token;
    cancel_ = false;
    last_beat_ = time_.steady_now();
    return std::optional(row_of(*grant, machine.text(), time_));
}

result<heartbeat_answer> hub_run_store::beat(const run_id& id, std::int64_t fencing_token,
                                             std::optional<std::string> phase) {
    last_beat_ = time_.steady_now();
    const auto answer = client_->call_json("POST", lease_path(id.text(), "heartbeat"),
                                           heartbeat_text({fencing_token, std::move(phase)}), std::chrono::seconds(5));
    if (!answer) return answer.error();
    if (answer->status >= 300) return error_of_answer(*answer, "the heartbeat");
    auto facts = parse_heartbeat_answer(answer->body);
    if (facts && facts->cancel) cancel_ = true;
    return facts;
}

result<void> hub_run_store::heartbeat(const run_id& id, std::int64_t fencing_token, std::chrono::seconds) {
    const auto answer = beat(id, fencing_token, {});
    if (!answer) return answer.error();
    return {};
}

result<void> hub_run_store::set_phase(const run_id& id, std::int64_t fencing_token, std::string_view phase) {
    const auto answer = beat(id, fencing_token, std::string(phase));
    if (!answer) return answer.error();
    return {};
}

result<bool> hub_run_store::cancel_requested(const run_id& id) {
    if (!cancel_ && time_.steady_now() - last_beat_ >= timing_.cancel_look) (void)beat(id, token_, {});
    return cancel_;
}

result<std::vector<run_row>> hub_run_store::running_on(const machine_id& machine) {
    const auto grant = box_.current();
    if (!grant) return grant.error();
    std::vector<run_row> rows;
    if (*grant) {
        token_ = (*grant)->fencing_token;
        rows.push_back(row_of(**grant, machine.text(), time_));
    }
    return rows;
}

result<void> hub_run_store::finish(const run_id& id, std::int64_t fencing_token, run_state state,
                                   const receipt_summary& summary, std::string_view file_bytes) {
    agent_journal_entry entry;
    entry.grant = ended_grant(id, fencing_token);
    entry.receipt_id = summary.id;
    entry.delivery = receipt_delivery{fencing_token, std::string(run_state_name(state)), summary.file_sha256};
    if (auto added = box_.add(entry, file_bytes); !added) return added;
    box_.end_current();
    deliver_waiting();
    return {};
}

std::size_t hub_run_store::deliver_waiting() {
    const auto waiting = box_.waiting();
    if (!waiting) {
        spdlog::error("{}", waiting.error().text());
        return 1;
    }
    std::size_t left = waiting->size();
    bool more = false;  // the end of a run whose receipt was refused
    for (const auto& entry : *waiting) {
        const auto done = deliver(entry);
        if (done) {
            box_.delivered(entry);
            pause_ = timing_.first_pause;
        } else if (is_final(done.error().code)) {
            if (!registered_) continue;
            if (!give_up(entry, done.error())) return left;
            more = more || !entry.end_reason;
        } else {
            back_off(done.error());
            return left;
        }
        --left;
    }
    return more ? deliver_waiting() : left;
}

bool hub_run_store::give_up(const agent_journal_entry& entry, const error& cause) {
    if (entry.end_reason) {
        box_.delivered(entry);  // the run has ended otherwise: there is nothing left to say of it
        return true;
    }
    spdlog::error("the hub does not take receipt {}; it is kept in agent/refused: {}", entry.receipt_id, cause.text());
    // The hub hears that no receipt will come, or it would give this machine the same run again and again.
    const auto ended = box_.add_end(entry.grant, "its receipt was refused: " + cause.text());
    if (!ended) {
        spdlog::error("{}", ended.error().text());
        return false;
    }
    box_.refused(entry, cause.text());
    return true;
}

result<void> hub_run_store::deliver(const agent_journal_entry& entry) {
    if (entry.end_reason) {
        const auto answer = client_->call_json("POST", lease_path(entry.grant.run, "end"),
                                               lease_end_text({entry.grant.fencing_token, *entry.end_reason}));
        if (!answer) return answer.error();
        if (answer->status >= 300) return error_of_answer(*answer, "the end of a run");
        return {};
    }
    const auto bytes = box_.file_of(entry);
    if (!bytes) return error{error_code::invalid_argument, "its file is gone: " + bytes.error().message};
    if (auto sent = upload(entry.delivery->sha256, *bytes); !sent) return sent;
    const auto answer = client_->call_json("POST", lease_path(entry.grant.run, "receipt"),
                                           delivery_text(*entry.delivery), upload_part_limit);
    if (!answer) return answer.error();
    if (answer->status >= 300) return error_of_answer(*answer, "the receipt");
    return {};
}

result<void> hub_run_store::upload(const std::string& sha256, const std::string& bytes) {
    const std::string path = "/api/v1/uploads/" + sha256;
    const auto there = client_->call_json("GET", path, {});
    if (!there) return there.error();
    if (there->status >= 300) return error_of_answer(*there, "how much of the receipt it has");
    auto position = parse_upload_progress(there->body);
    if (!position) return position.error();
    while (*position < bytes.size()) {
        const auto answer =
            client_->call("POST", path + "?position=" + std::to_string(*position),
                          bytes.substr(*position, timing_.part_bytes), "application/octet-stream", upload_part_limit);
        if (!answer) return answer.error();
        if (answer->status >= 300) {
            auto cause = error_of_answer(*answer, "a part of the receipt");
            if (cause.code == error_code::conflict)
                cause.code = error_code::unavailable;  // parts were dropped meanwhile: begin anew
            return cause;
        }
        const auto received = parse_upload_progress(answer->body);
        if (!received) return received.error();
        if (*received <= *position) return error{error_code::protocol_error, "the hub took no byte of a part"};
        position = received;
    }
    return {};
}

result<run_row> hub_run_store::enqueue(const run_row&) {
    return only_the_hub("a run");
}
result<run_row> hub_run_store::claim_run(const run_id&, const machine_id&, std::chrono::seconds) {
    return only_the_hub("this run");
}
result<void> hub_run_store::end_without_receipt(const run_id& id, run_state, std::string_view error_text) {
    if (auto kept = box_.add_end(ended_grant(id, token_), error_text); !kept) return kept;
    box_.end_current();
    deliver_waiting();
    return {};
}
result<run_row> hub_run_store::request_cancel(const run_id&) {
    return only_the_hub("a cancel");
}
result<std::vector<run_row>> hub_run_store::expired_leases() {
    return std::vector<run_row>();
}
result<run_row> hub_run_store::find_run(const run_id&) {
    return only_the_hub("runs");
}
result<run_page> hub_run_store::list_runs(const run_filter&) {
    return only_the_hub("runs");
}
result<void> hub_run_store::add_receipt(const receipt_summary&, std::string_view) {
    return only_the_hub("an import");
}
result<std::string> hub_run_store::receipt_file(const receipt_id&) {
    return only_the_hub("receipts");
}
result<receipt_summary> hub_run_store::find_receipt(const receipt_id&) {
    return only_the_hub("receipts");
}
result<receipt_page> hub_run_store::list_receipts(const receipt_filter&) {
    return only_the_hub("receipts");
}
result<std::optional<chain_head>> hub_run_store::chain_head_of(const machine_id&) {
    return only_the_hub("chains");
}

}  // namespace assay::lab
