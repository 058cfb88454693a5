// The hub's endpoints.
#include <charconv>

#include "contract/json_writer.hpp"
#include "contract/progress.hpp"
#include "lab/hub_answers.hpp"
#include "lab/lab_hub.hpp"
#include "receipt/digest.hpp"
#include "receipt/signing_key.hpp"
#include "run/receipt_recorder.hpp"

namespace assay::lab {
namespace {

constexpr std::size_t max_part_bytes = 1u << 20;

std::string machine_document(const machine_row& machine) {
    json_array labels;
    for (const auto& label : machine.labels) labels.add(label);
    json_object out;
    out.add("id", machine.id)
        .add("name", machine.name)
        .add("public_key", machine.public_key)
        .raw("labels", labels.text());
    out.raw("facts", machine.facts_text).add("state", machine_state_name(machine.state)).add("reason", machine.reason);
    out.add("failed_checks", machine.failed_checks)
        .add("first_seen", machine.first_seen)
        .add("last_seen", machine.last_seen);
    return out.add("maintenance_until", machine.maintenance_until).text();
}

run_id run_of(const http_request& request) {
    return run_id(std::string(request.capture("run")));
}

std::optional<run_state> end_state(std::string_view name) {
    for (const auto state : {run_state::done, run_state::failed, run_state::cancelled, run_state::interrupted})
        if (run_state_name(state) == name) return state;
    return std::nullopt;
}

/// Why the environment was refused, or nothing where it was good enough to measure.
std::optional<std::string> failed_environment(const receipt& document) {
    if (document.verdict.result != verdict_result::refused) return std::nullopt;
    for (const auto& why : document.verdict.reasons)
        if (why.code.starts_with("environment-")) return why.message;
    return std::nullopt;
}

}  // namespace

std::vector<http_endpoint> lab_hub::endpoints() {
    std::vector<http_endpoint> out;
    const auto add = [&](std::string method, std::string pattern, token_scope scope,
                         http_response (lab_hub::*handler)(const http_request&)) {
        http_endpoint endpoint;
        endpoint.method = std::move(method);
        endpoint.pattern = std::move(pattern);
        endpoint.scope = scope;
        endpoint.blocking = [this, handler](const http_request& request) { return (this->*handler)(request); };
        endpoint.body_limit = max_part_bytes;
        out.push_back(std::move(endpoint));
    };
    add("GET", "/api/v1/lab/machines", token_scope::read, &lab_hub::show_machines);
    add("POST", "/api/v1/lab/machines", token_scope::agent, &lab_hub::take_registration);
    add("POST", "/api/v1/lab/machines/{machine}/state", token_scope::admin, &lab_hub::change_machine);
    add("DELETE", "/api/v1/lab/machines/{machine}", token_scope::admin, &lab_hub::remove_machine);
    add("POST", "/api/v1/leases/{run}/heartbeat", token_scope::agent, &lab_hub::take_heartbeat);
    add("POST", "/api/v1/leases/{run}/events", token_scope::agent, &lab_hub::take_events);
    add("POST", "/api/v1/leases/{run}/receipt", token_scope::agent, &lab_hub::take_receipt);
    add("POST", "/api/v1/leases/{run}/end", token_scope::agent, &lab_hub::take_end);
    add("GET", "/api/v1/uploads/{sha256}", token_scope::agent, &lab_hub::show_upload);
    add("POST", "/api/v1/uploads/{sha256}", token_scope::agent, &lab_hub::take_upload_part);
    http_endpoint leases;
    leases.method = "POST";
    leases.pattern = "/api/v1/leases";
    leases.scope = token_scope::agent;
    leases.deferred = [this](http_request request, respond_function respond) {
        ask_for_work(std::move(request), std::move(respond));
    };
    out.push_back(std::move(leases));
    return out;
}

http_response lab_hub::take_registration(const http_request& request) {
    auto message = parse_registration(request.body);
    if (!message) return problem_answer(message.error());
    const auto bytes = decode_base64(message->public_key);
    const auto key = bytes ? public_key::from_bytes(*bytes) : result<public_key>(bytes.error());
    if (!key)
        return problem_answer({error_code::invalid_argument, "not an Ed25519 public key in base 64", "/public_key"});
    machine_row machine;
    machine.id = message->machine_id;
    machine.name = message->name;
    machine.public_key = message->public_key;
    machine.labels = message->labels;
    machine.facts_text = message->facts_text;
    const auto known = services_.machines->register_machine(machine, services_.trust_at_sight, message->rotations);
    if (!known) return problem_answer(known.error());
    return json_answer(200, machine_document(*known));
}

http_response lab_hub::show_machines(const http_request&) {
    const auto machines = services_.machines->list_machines();
    if (!machines) return problem_answer(machines.error());
    json_array list;
    for (const auto& machine : *machines) list.raw(machine_document(machine));
    return json_answer(200, json_object().raw("machines", list.text()).text());
}

http_response lab_hub::change_machine(const http_request& request) {
    const auto change = parse_machine_state_change(request.body);
    if (!change) return problem_answer(change.error());
    const auto state = machine_state_of_name(change->state);
    if (!state)
        return problem_answer(
            {error_code::invalid_argument, "must be active, draining, quarantined, maintenance or pending", "/state"});
    if (change->until && !parse_utc(*change->until))
        return problem_answer(
            {error_code::invalid_argument, "must be a UTC time such as 2026-11-30T22:00:00Z", "/until"});
    std::optional<std::string> until;
    if (change->until) until = format_utc(parse_utc(*change->until).value());
    const auto machine = services_.machines->set_machine_state(machine_id(std::string(request.capture("machine"))),
                                                               *state, change->reason, until);
    if (!machine) return problem_answer(machine.error());
    wake();
    return json_answer(200, machine_document(*machine));
}

http_response lab_hub::remove_machine(const http_request& request) {
    const machine_id id(std::string(request.capture("machine")));
    if (auto removed = services_.machines->remove_machine(id); !removed) return problem_answer(removed.error());
    return json_answer(204, {});
}

http_response lab_hub::take_heartbeat(const http_request& request) {
    const auto beat = parse_heartbeat(request.body);
    if (!beat) return problem_answer(beat.error());
    const auto id = run_of(request);
    if (auto kept = services_.runs->heartbeat(id, beat->fencing_token, services_.lease); !kept)
        return problem_answer(kept.error());
    if (beat->phase)
        if (auto set = services_.runs->set_phase(id, beat->fencing_token, *beat->phase); !set)
            return problem_answer(set.error());
    const auto cancel = services_.runs->cancel_requested(id);
    if (!cancel) return problem_answer(cancel.error());
    return json_answer(200, heartbeat_answer_text({*cancel}));
}

http_response lab_hub::take_events(const http_request& request) {
    auto batch = parse_progress_batch(request.body);
    if (!batch) return problem_answer(batch.error());
    const auto row = services_.runs->find_run(run_of(request));
    if (!row) return problem_answer(row.error());
    if (row->state != run_state::running)
        return problem_answer({error_code::conflict, "run " + row->id + " is not running"});
    for (auto& event : batch->events) {
        // The end of a run is told by the hub, when it has the receipt.
        const bool known = event.kind == "state" || event.kind == "arm" || event.kind == "steps" || event.kind == "log";
        if (known && services_.progress != nullptr)
            services_.progress->publish({row->id, event.kind, std::move(event.data_text)});
    }
    return json_answer(202, "{}");
}

http_response lab_hub::show_upload(const http_request& request) {
    const auto size = services_.machines->upload_size(request.capture("sha256"));
    if (!size) return problem_answer(size.error());
    return json_answer(200, upload_progress_text(*size));
}

http_response lab_hub::take_upload_part(const http_request& request) {
    const auto text = request.query_value("position").value_or("");
    std::uint64_t position = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), position);
    if (text.empty() || failure != std::errc() || end != text.data() + text.size())
        return problem_answer({error_code::invalid_argument, "must be the place of the part's first byte", "position"});
    const auto size = services_.machines->add_upload_part(request.capture("sha256"), position, request.body);
    if (!size) return problem_answer(size.error());
    return json_answer(200, upload_progress_text(*size));
}

http_response lab_hub::take_receipt(const http_request& request) {
    const auto delivery = parse_delivery(request.body);
    if (!delivery) return problem_answer(delivery.error());
    if (auto stored = store_receipt(run_of(request), *delivery); !stored) return problem_answer(stored.error());
    return json_answer(200, "{}");
}

http_response lab_hub::take_end(const http_request& request) {
    const auto end = parse_lease_end(request.body);
    if (!end) return problem_answer(end.error());
    const auto id = run_of(request);
    const auto row = services_.runs->find_run(id);
    if (!row) return problem_answer(row.error());
    if (row->state != run_state::running || row->fencing_token != end->fencing_token)
        return problem_answer({error_code::conflict, "run " + id.text() + " has ended or belongs to a newer claim"});
    if (auto ended = services_.runs->end_without_receipt(id, run_state::failed, end->reason); !ended)
        return problem_answer(ended.error());
    if (services_.progress != nullptr) {
        progress_state last;
        last.run = row->id;
        last.state = run_state_name(run_state::failed);
        services_.progress->publish({row->id, "done", progress_text(last)});
    }
    return json_answer(200, "{}");
}

result<receipt_verification> lab_hub::examine(std::string_view file_bytes, const machine_row& machine,
                                              const std::string& run) const {
    verify_options_of_key accepted;
    accepted.policies = services_.policies;
    auto found = verify_receipt(file_bytes, accepted);
    if (!found.document) return error{error_code::invalid_argument, found.reasons.front()};
    const auto bytes = decode_base64(machine.public_key);
    const auto key = bytes ? public_key::from_bytes(*bytes) : result<public_key>(bytes.error());
    if (!key || key->id() != found.key_id)
        return error{error_code::conflict, "the receipt is not signed by the key of machine " + machine.id};
    if (const std::string owner = chain_owner(*found.document); !owner.empty() && owner != machine.id)
        return error{error_code::invalid_argument, "the receipt is of machine " + owner, "/chain/machine_id"};
    if (found.document->run_id != run)
        return error{error_code::invalid_argument, "the receipt is of run " + found.document->run_id, "/run_id"};
    if (!found.valid)
        return error{error_code::invalid_argument, "the receipt does not verify: " + found.reasons.front()};
    return found;
}

result<void> lab_hub::store_receipt(const run_id& id, const receipt_delivery& delivery) {
    const auto state = end_state(delivery.state);
    if (!state) return error{error_code::invalid_argument, "must be done, failed, cancelled or interrupted", "/state"};
    const auto row = services_.runs->find_run(id);
    if (!row) return row.error();
    if (row->receipt_id) {
        // Delivered before, and the answer was lost: the agent may forget it.
        const auto known = services_.runs->find_receipt(receipt_id(*row->receipt_id));
        if (known && known->file_sha256 == delivery.sha256) return {};
    }
    if (row->state != run_state::running || row->fencing_token != delivery.fencing_token)
        return error{error_code::conflict, "run " + id.text() + " has ended or belongs to a newer claim"};
    const auto bytes = services_.machines->read_upload(delivery.sha256);
    if (!bytes) {
        // Missing parts are no verdict on the run: the agent sends them again.
        if (bytes.error().code == error_code::conflict) return error{error_code::unavailable, bytes.error().message};
        return bytes.error();
    }
    const auto machine = services_.machines->see_machine(machine_id(row->machine_id.value_or("")));
    if (!machine) return machine.error();
    // What is wrong now is wrong later: the agent shall not send it again.
    const auto found = examine(*bytes, *machine, row->id);
    if (!found) return found.error();
    const receipt& document = *found->document;
    if (auto done =
            services_.runs->finish(id, delivery.fencing_token, *state, summarise(document, found->file_sha256), *bytes);
        !done)
        return done;
    (void)services_.machines->drop_upload(delivery.sha256);
    const auto why = failed_environment(document);
    (void)services_.machines->report_check(machine_id(machine->id), !why, why.value_or(""));
    if (services_.progress != nullptr) {
        progress_state last;
        last.run = row->id;
        last.state = run_state_name(*state);
        last.receipt_id = document.id;
        last.verdict = verdict_name(document.verdict.result);
        services_.progress->publish({row->id, "done", progress_text(last)});
    }
    return {};
}

}  // namespace assay::lab
