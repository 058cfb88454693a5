#include "contract/schedule_document.hpp"

#include <algorithm>

#include "contract/json_edge.hpp"

namespace assay {
namespace {

constexpr std::size_t max_name_bytes = 100;
constexpr std::size_t max_labels = 16;

/// Validates one combination of the matrix; errors point into the schedule's own document.
run_request read_request(const json& request, const json_context& at) {
    auto parsed = parse_run_request(dump_json(request));
    if (parsed) return *parsed;
    auto cause = parsed.error();
    cause.field = at.pointer() + cause.field;
    throw json_failure{cause};
}

void expand(const json& request, const json* matrix, const json_context& at, schedule_document& out) {
    const json_context request_at(at, "request");
    if (!request.is_object()) request_at.fail("must be an object");
    if (!matrix) {
        out.requests.push_back(read_request(request, request_at));
        return;
    }
    const json_context matrix_at(at, "matrix");
    object_reader fields(*matrix, matrix_at);
    std::vector<std::string> presets;
    std::vector<std::vector<std::string>> arms;
    fields.defaulted("presets", presets);
    fields.defaulted("arms", arms);
    fields.finish();
    if (presets.empty() && arms.empty()) matrix_at.fail("must name presets, arms or both");
    if (std::max<std::size_t>(presets.size(), 1) * std::max<std::size_t>(arms.size(), 1) > max_scheduled_runs)
        matrix_at.fail("makes more than " + std::to_string(max_scheduled_runs) + " runs");
    for (std::size_t p = 0; p < std::max<std::size_t>(presets.size(), 1); ++p)
        for (std::size_t a = 0; a < std::max<std::size_t>(arms.size(), 1); ++a) {
            json combined = request;
            if (!presets.empty()) combined["preset"] = presets[p];
            if (!arms.empty()) combined["arms"] = arms[a];
            out.requests.push_back(read_request(combined, request_at));
        }
}

void read_given(object_reader& reader, const json_context& at, schedule_document& out) {
    reader.required("name", out.name);
    if (out.name.empty() || out.name.size() > max_name_bytes) json_context(at, "name").fail("must have 1 to 100 bytes");
    reader.required("cron", out.cron);
    reader.defaulted("time_zone", out.time_zone);
    reader.defaulted("labels", out.labels);
    if (out.labels.size() > max_labels) json_context(at, "labels").fail("has more than 16 entries");
    reader.optional_integer("keep_days", out.keep_days, 1, 36500);
    reader.defaulted("paused", out.paused);
    const json& request = reader.get("request");
    const json* matrix = reader.find("matrix");
    out.template_text = dump_json(request);
    if (matrix) out.matrix_text = dump_json(*matrix);
    expand(request, matrix, at, out);
}

result<schedule_document> read(std::string_view json_text, bool stored) {
    json_rules rules;
    if (stored) rules.code = error_code::corrupt;
    const json_context at(rules);
    try {
        const json document = parse_json(json_text, at);
        object_reader reader(document, at);
        schedule_document schedule;
        read_given(reader, at, schedule);
        if (stored) {
            reader.required("id", schedule.id);
            reader.required("created_at", schedule.created_at);
            reader.required("checked_until", schedule.checked_until);
            reader.optional("last_due", schedule.last_due);
            reader.optional("last_fired", schedule.last_fired);
            reader.defaulted_integer("missed", schedule.missed, 0, 1 << 30);
        }
        reader.finish();
        return schedule;
    } catch (const json_failure& failure) {
        return failure.cause;
    }
}

}  // namespace

result<schedule_document> parse_schedule(std::string_view json_text) {
    return read(json_text, false);
}

result<schedule_document> parse_stored_schedule(std::string_view json_text) {
    return read(json_text, true);
}

std::string stored_schedule_text(const schedule_document& schedule) {
    json document = {{"id", schedule.id},
                     {"name", schedule.name},
                     {"cron", schedule.cron},
                     {"time_zone", schedule.time_zone},
                     {"labels", schedule.labels},
                     {"request", json::parse(schedule.template_text)},
                     {"paused", schedule.paused},
                     {"created_at", schedule.created_at},
                     {"checked_until", schedule.checked_until},
                     {"missed", schedule.missed}};
    if (!schedule.matrix_text.empty()) document["matrix"] = json::parse(schedule.matrix_text);
    put(document, "keep_days", schedule.keep_days);
    put(document, "last_due", schedule.last_due);
    put(document, "last_fired", schedule.last_fired);
    return dump_json(document);
}

}  // namespace assay
