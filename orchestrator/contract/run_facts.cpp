#include "contract/run_facts.hpp"

#include "contract/json_edge.hpp"

namespace assay {
namespace {

constexpr json_rules rules{error_code::protocol_error, true};

void read_run(const json& value, const json_context& at, run_facts& run) {
    object_reader reader(value, at);
    reader.required("id", run.id);
    reader.required("state", run.state);
    reader.defaulted("created_at", run.created_at);
    reader.optional("phase", run.phase);
    reader.optional("label", run.label);
    reader.optional("started_at", run.started_at);
    reader.optional("ended_at", run.ended_at);
    reader.optional("receipt_id", run.receipt_id);
    reader.optional("error", run.error);
    const json* asked = reader.find("request");
    if (!asked) return;
    const json_context request_at(at, "request");
    object_reader request(*asked, request_at);
    run.preset = "custom";
    request.defaulted("preset", run.preset);
    request.defaulted("arms", run.arms);
}

void read_page(const json& value, const json_context& at, run_facts_page& page) {
    object_reader reader(value, at);
    reader.optional("next", page.next);
    const json& list = reader.get("runs");
    const json_context list_at(at, "runs");
    if (!list.is_array()) list_at.fail("must be a list");
    for (std::size_t i = 0; i < list.size(); ++i) read_run(list[i], json_context(list_at, i), page.runs.emplace_back());
}

void read_state(const json& value, const json_context& at, progress_state& out) {
    object_reader reader(value, at);
    reader.required("state", out.state);
    reader.defaulted("run", out.run);
    reader.defaulted("phase", out.phase);
    reader.defaulted("arm", out.arm);
    reader.defaulted("arm_index", out.arm_index);
    reader.defaulted("arm_count", out.arm_count);
    reader.optional("receipt_id", out.receipt_id);
    reader.optional("verdict", out.verdict);
}

void read_steps(const json& value, const json_context& at, progress_steps& out) {
    object_reader reader(value, at);
    reader.defaulted("run", out.run);
    reader.required("arm", out.arm);
    reader.required("phase", out.phase);
    reader.required("arm_index", out.arm_index);
    reader.required("arm_count", out.arm_count);
    reader.required("first", out.first);
    reader.required("asked", out.asked);
    reader.required("wall_ms", out.wall_ms);
    reader.required("loss", out.loss);
}

void read_log(const json& value, const json_context& at, progress_log& out) {
    object_reader reader(value, at);
    reader.defaulted("run", out.run);
    reader.required("level", out.level);
    reader.required("message", out.message);
}

}  // namespace

result<run_facts> parse_run_facts(std::string_view json_text) {
    return read_document<run_facts>(json_text, rules, read_run);
}

result<run_facts_page> parse_run_facts_page(std::string_view json_text) {
    return read_document<run_facts_page>(json_text, rules, read_page);
}

result<progress_state> parse_progress_state(std::string_view json_text) {
    return read_document<progress_state>(json_text, rules, read_state);
}

result<progress_steps> parse_progress_steps(std::string_view json_text) {
    return read_document<progress_steps>(json_text, rules, read_steps);
}

result<progress_log> parse_progress_log(std::string_view json_text) {
    return read_document<progress_log>(json_text, rules, read_log);
}

}  // namespace assay
