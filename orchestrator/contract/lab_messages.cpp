#include "contract/lab_messages.hpp"

#include "contract/json_edge.hpp"

namespace assay {
namespace {

constexpr std::size_t max_labels = 50, max_label_bytes = 100, max_name_bytes = 200, max_facts_bytes = 64 * 1024;
constexpr std::size_t max_rotations = 100, max_rotation_bytes = 4096;
constexpr std::int64_t max_token = std::int64_t{1} << 53;

/// Reads one object by `fill`; failures become results.
template <class T, class Fill>
result<T> read_message(std::string_view text, bool allow_unknown, Fill fill) {
    const json_rules rules{error_code::invalid_argument, allow_unknown};
    return read_document<T>(text, rules, [&fill](const json& value, const json_context& at, T& out) {
        object_reader in(value, at);
        fill(in, out);
        in.finish();
    });
}

void read_token(object_reader& in, std::int64_t& out) {
    const json& value = in.get("fencing_token");
    out = static_cast<std::int64_t>(read_unsigned(value, json_context(in.at(), "fencing_token"), 0, max_token));
}

std::string read_object_text(object_reader& in, std::string_view key) {
    const json& value = in.get(key);
    const json_context at(in.at(), key);
    if (!value.is_object()) at.fail("must be an object");
    return dump_json(value);
}

void read_machine_id(object_reader& in, std::string& out) {
    in.required("machine_id", out);
    if (out.size() != 16 || out.find_first_not_of("0123456789abcdef") != std::string::npos)
        json_context(in.at(), "machine_id").fail("must be 16 hexadecimal digits");
}

json grant_json(const lease_grant& message) {
    json out{{"run", message.run},
             {"request", json::parse(message.request_text)},
             {"fencing_token", message.fencing_token},
             {"lease_seconds", message.lease_seconds},
             {"attempt", message.attempt},
             {"created_at", message.created_at}};
    put(out, "label", message.label);
    return out;
}

void read_grant(object_reader& in, lease_grant& out) {
    in.required("run", out.run);
    out.request_text = read_object_text(in, "request");
    in.optional("label", out.label);
    read_token(in, out.fencing_token);
    in.integer("lease_seconds", out.lease_seconds, 1, 86400);
    in.integer("attempt", out.attempt, 1, 1000);
    in.required("created_at", out.created_at);
}

json delivery_json(const receipt_delivery& message) {
    return {{"fencing_token", message.fencing_token}, {"state", message.state}, {"sha256", message.sha256}};
}

void read_delivery(object_reader& in, receipt_delivery& out) {
    read_token(in, out.fencing_token);
    in.required("state", out.state);
    out.sha256 = read_sha256(in.get("sha256"), json_context(in.at(), "sha256"));
}

}  // namespace

std::string registration_text(const machine_registration& message) {
    return dump_json({{"machine_id", message.machine_id},
                      {"public_key", message.public_key},
                      {"name", message.name},
                      {"labels", message.labels},
                      {"facts", json::parse(message.facts_text)},
                      {"rotations", message.rotations}});
}

result<machine_registration> parse_registration(std::string_view json_text) {
    return read_message<machine_registration>(json_text, false, [](object_reader& in, machine_registration& out) {
        read_machine_id(in, out.machine_id);
        in.required("public_key", out.public_key);
        in.required("name", out.name);
        if (out.name.empty() || out.name.size() > max_name_bytes)
            json_context(in.at(), "name").fail("must have 1 to 200 bytes");
        in.defaulted("labels", out.labels);
        const json_context labels(in.at(), "labels");
        if (out.labels.size() > max_labels) labels.fail("has too many labels");
        for (const auto& label : out.labels)
            if (label.empty() || label.size() > max_label_bytes || label.find('\n') != std::string::npos)
                labels.fail("holds a label that is not one line of 1 to 100 bytes");
        if (in.find("facts") != nullptr) out.facts_text = read_object_text(in, "facts");
        if (out.facts_text.size() > max_facts_bytes) json_context(in.at(), "facts").fail("is too large");
        in.defaulted("rotations", out.rotations);
        const json_context rotations(in.at(), "rotations");
        if (out.rotations.size() > max_rotations) rotations.fail("has too many certificates");
        for (const auto& certificate : out.rotations)
            if (certificate.size() > max_rotation_bytes) rotations.fail("holds a certificate that is too large");
    });
}

std::string lease_request_text(const lease_request& message) {
    return dump_json({{"machine_id", message.machine_id}, {"wait_ms", message.wait_ms}});
}

result<lease_request> parse_lease_request(std::string_view json_text) {
    return read_message<lease_request>(json_text, false, [](object_reader& in, lease_request& out) {
        read_machine_id(in, out.machine_id);
        in.defaulted_integer("wait_ms", out.wait_ms, 0, 60000);
    });
}

std::string lease_grant_text(const lease_grant& message) {
    return dump_json(grant_json(message));
}

result<lease_grant> parse_lease_grant(std::string_view json_text) {
    return read_message<lease_grant>(json_text, true, [](object_reader& in, lease_grant& out) { read_grant(in, out); });
}

std::string heartbeat_text(const lease_heartbeat& message) {
    json out{{"fencing_token", message.fencing_token}};
    put(out, "phase", message.phase);
    return dump_json(out);
}

result<lease_heartbeat> parse_heartbeat(std::string_view json_text) {
    return read_message<lease_heartbeat>(json_text, false, [](object_reader& in, lease_heartbeat& out) {
        read_token(in, out.fencing_token);
        in.optional("phase", out.phase);
        if (out.phase && out.phase->size() > max_name_bytes) json_context(in.at(), "phase").fail("is too long");
    });
}

std::string heartbeat_answer_text(const heartbeat_answer& message) {
    return dump_json({{"cancel", message.cancel}});
}

result<heartbeat_answer> parse_heartbeat_answer(std::string_view json_text) {
    return read_message<heartbeat_answer>(
        json_text, true, [](object_reader& in, heartbeat_answer& out) { in.required("cancel", out.cancel); });
}

std::string delivery_text(const receipt_delivery& message) {
    return dump_json(delivery_json(message));
}

result<receipt_delivery> parse_delivery(std::string_view json_text) {
    return read_message<receipt_delivery>(json_text, false,
                                          [](object_reader& in, receipt_delivery& out) { read_delivery(in, out); });
}

std::string lease_end_text(const lease_end& message) {
    // A cut in the middle of a character would be no JSON: continuation bytes go with their beginning.
    auto reason = message.reason.empty() ? std::string("no reason was given") : message.reason;
    if (reason.size() > max_reason_bytes) {
        auto end = max_reason_bytes;
        while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xc0) == 0x80) --end;
        reason.resize(end);
    }
    return dump_json({{"fencing_token", message.fencing_token}, {"reason", reason}});
}

result<lease_end> parse_lease_end(std::string_view json_text) {
    return read_message<lease_end>(json_text, false, [](object_reader& in, lease_end& out) {
        read_token(in, out.fencing_token);
        in.required("reason", out.reason);
        if (out.reason.empty() || out.reason.size() > max_reason_bytes)
            json_context(in.at(), "reason").fail("must have 1 to 2000 bytes");
    });
}

std::string progress_batch_text(const progress_batch& message) {
    json events = json::array();
    for (const auto& event : message.events)
        events.push_back({{"kind", event.kind}, {"data", json::parse(event.data_text)}});
    return dump_json({{"events", std::move(events)}});
}

result<progress_batch> parse_progress_batch(std::string_view json_text) {
    return read_message<progress_batch>(json_text, false, [](object_reader& in, progress_batch& out) {
        const json& list = in.get("events");
        const json_context at(in.at(), "events");
        if (!list.is_array() || list.size() > max_events_a_batch) at.fail("must be a list of at most 500 events");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const json_context item_at(at, i);
            object_reader item(list[i], item_at);
            auto& event = out.events.emplace_back();
            item.required("kind", event.kind);
            event.data_text = read_object_text(item, "data");
            item.finish();
        }
    });
}

result<machine_state_change> parse_machine_state_change(std::string_view json_text) {
    return read_message<machine_state_change>(json_text, false, [](object_reader& in, machine_state_change& out) {
        in.required("state", out.state);
        in.defaulted("reason", out.reason);
        in.optional("until", out.until);
        if (out.reason.size() > 1000) json_context(in.at(), "reason").fail("is too long");
    });
}

std::string upload_progress_text(std::uint64_t received) {
    return dump_json({{"received", received}});
}

result<std::uint64_t> parse_upload_progress(std::string_view json_text) {
    return read_message<std::uint64_t>(json_text, true,
                                       [](object_reader& in, std::uint64_t& out) { in.required("received", out); });
}

std::string journal_text(const agent_journal_entry& entry) {
    json out{{"grant", grant_json(entry.grant)}, {"receipt_id", entry.receipt_id}};
    if (entry.delivery) out["delivery"] = delivery_json(*entry.delivery);
    put(out, "end_reason", entry.end_reason);
    return dump_json(out);
}

result<agent_journal_entry> parse_journal(std::string_view json_text) {
    return read_message<agent_journal_entry>(json_text, true, [](object_reader& in, agent_journal_entry& out) {
        const json& grant = in.get("grant");
        const json_context grant_at(in.at(), "grant");
        object_reader grant_in(grant, grant_at);
        read_grant(grant_in, out.grant);
        in.required("receipt_id", out.receipt_id);
        in.optional("end_reason", out.end_reason);
        if (const json* delivery = in.find("delivery")) {
            const json_context delivery_at(in.at(), "delivery");
            object_reader delivery_in(*delivery, delivery_at);
            read_delivery(delivery_in, out.delivery.emplace());
        }
    });
}

problem_facts read_problem(std::string_view json_text) {
    const json value = json::parse(json_text, nullptr, false);
    problem_facts out;
    if (!value.is_object()) return out;
    if (const auto code = value.find("code"); code != value.end() && code->is_string()) out.code = *code;
    if (const auto detail = value.find("detail"); detail != value.end() && detail->is_string()) out.detail = *detail;
    return out;
}

}  // namespace assay
