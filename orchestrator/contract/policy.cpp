#include "contract/policy.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "contract/json_edge.hpp"

namespace assay {
namespace {

std::uint32_t read_pci_vendor(const json& value, const json_context& at) {
    std::string text;
    read_json(value, at, text);
    std::uint32_t id = 0;
    const bool prefixed = text.starts_with("0x");
    const char* first = text.data() + (prefixed ? 2 : 0);
    const char* last = text.data() + text.size();
    const auto parsed = std::from_chars(first, last, id, 16);
    if (!prefixed || parsed.ec != std::errc{} || parsed.ptr != last || id > 0xFFFF)
        at.fail("must be a PCI vendor id such as \"0x10de\"");
    return id;
}

void read_lower_case(object_reader& object, std::string_view key, std::optional<std::vector<std::string>>& out) {
    object.optional(key, out);
    if (!out) return;
    for (const auto& text : *out)
        if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
            json_context(object.at(), key).fail("must be in lower case");
    if (out->empty()) json_context(object.at(), key).fail("accepts nothing; leave it out to accept anything");
}

void read_schema(object_reader& object, std::string_view known) {
    std::string schema;
    object.required("schema", schema);
    if (schema != known)
        throw json_failure{{error_code::unsupported_version,
                            "the policy's schema is '" + schema + "'; this build knows '" + std::string(known) + "'",
                            json_context(object.at(), "schema").pointer()}};
}

void read_json(const json& value, const json_context& at, probe_bounds& out) {
    object_reader object(value, at);
    object.required("min_gflops", out.min_gflops);
    object.required("max_gflops", out.max_gflops);
    object.finish();
    if (!(out.min_gflops >= 0) || !(out.max_gflops > out.min_gflops)) at.fail("must have 0 <= min_gflops < max_gflops");
}

adapter_policy read_adapter_policy(const json& document, const json_context& at) {
    adapter_policy policy;
    object_reader object(document, at);
    read_schema(object, adapter_policy_schema);
    object.required("name", policy.name);
    object.defaulted("description", policy.description);
    read_lower_case(object, "vendors", policy.vendors);
    read_lower_case(object, "architectures", policy.architectures);
    if (const json* list = object.find("pci_vendors")) {
        const json_context list_at(at, "pci_vendors");
        if (!list->is_array() || list->empty()) list_at.fail("must be a list with an entry or more");
        policy.pci_vendors.emplace();
        for (std::size_t index = 0; index < list->size(); ++index)
            policy.pci_vendors->push_back(read_pci_vendor((*list)[index], json_context(list_at, index)));
    }
    object.defaulted("require_not_fallback", policy.require_not_fallback);
    object.defaulted("refuse_software", policy.refuse_software);
    object.defaulted("refuse_virtual", policy.refuse_virtual);
    object.defaulted("require_devtools", policy.require_devtools);
    object.defaulted("require_agreement", policy.require_agreement);
    object.defaulted("require_driver_version", policy.require_driver_version);
    object.defaulted("always_unqualified", policy.always_unqualified);
    if (const json* bounds = object.find("probe")) read_json(*bounds, json_context(at, "probe"), policy.probe.emplace());
    object.finish();
    return policy;
}

rule_level read_level(const json& value, const json_context& at) {
    std::string text;
    read_json(value, at, text);
    if (text == "require") return rule_level::require;
    if (text == "warn") return rule_level::warn;
    if (text == "ignore") return rule_level::ignore;
    at.fail("must be \"require\", \"warn\" or \"ignore\"");
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

environment_rule read_rule(const json& value, const json_context& at, std::string_view fact) {
    environment_rule rule;
    object_reader object(value, at);
    rule.level = read_level(object.get("level"), json_context(at, "level"));
    object.defaulted("accept", rule.accept);
    object.optional("min", rule.min);
    object.optional("max", rule.max);
    std::string unknown = "refuse";
    object.defaulted("unknown", unknown);
    if (unknown != "refuse" && unknown != "accept") json_context(at, "unknown").fail("must be \"refuse\" or \"accept\"");
    rule.unknown_is_met = unknown == "accept";
    object.finish();
    if (rule.level == rule_level::ignore) return rule;
    const bool is_text = contains(environment_text_facts(), fact);
    if (is_text && (rule.accept.empty() || rule.min || rule.max)) at.fail("needs \"accept\" and neither \"min\" nor \"max\"");
    if (!is_text && (!rule.accept.empty() || (!rule.min && !rule.max))) at.fail("needs \"min\" or \"max\" and no \"accept\"");
    if (rule.min && rule.max && *rule.min > *rule.max) at.fail("has a \"min\" above its \"max\"");
    return rule;
}

environment_policy read_environment_policy(const json& document, const json_context& at) {
    environment_policy policy;
    object_reader object(document, at);
    read_schema(object, environment_policy_schema);
    object.required("name", policy.name);
    object.defaulted("description", policy.description);
    const json& rules = object.get("rules");
    const json_context rules_at(at, "rules");
    if (!rules.is_object()) rules_at.fail("must be an object");
    for (const auto& [fact, rule] : rules.items()) {
        const json_context rule_at(rules_at, std::string_view(fact));
        if (!contains(environment_text_facts(), fact) && !contains(environment_number_facts(), fact))
            rule_at.fail("is no fact of the environment");
        policy.rules[fact] = read_rule(rule, rule_at, fact);
    }
    object.finish();
    return policy;
}

template <class Read>
auto parse_policy(std::string_view text, Read read) -> result<decltype(read(json(), std::declval<const json_context&>()))> {
    const json_rules rules;
    const json_context at(rules);
    try {
        return read(parse_json(text, at), at);
    } catch (const json_failure& failure) {
        return failure.cause;
    }
}

}  // namespace

const std::vector<std::string>& environment_text_facts() {
    static const std::vector<std::string> names{"power_source", "thermal_state", "cpu_governor", "cross_origin_isolated",
                                                "visibility"};
    return names;
}

const std::vector<std::string>& environment_number_facts() {
    static const std::vector<std::string> names{
        "battery_percent", "temperature_celsius", "load_per_core",  "memory_available_fraction", "disk_free_gib",
        "other_browsers",  "uptime_seconds",      "asleep_seconds", "cpu_frequency_mhz",         "timer_quantum_us"};
    return names;
}

result<adapter_policy> parse_adapter_policy(std::string_view json_text) {
    return parse_policy(json_text, read_adapter_policy);
}

result<environment_policy> parse_environment_policy(std::string_view json_text) {
    return parse_policy(json_text, read_environment_policy);
}

}  // namespace assay
