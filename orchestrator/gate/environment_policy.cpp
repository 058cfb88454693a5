#include "gate/environment_policy.hpp"

#include <algorithm>
#include <cstdio>

namespace assay {
namespace {

template <class T>
std::optional<double> as_number(const std::optional<T>& value) {
    if (!value) return std::nullopt;
    return static_cast<double>(*value);
}

std::optional<std::string> text_fact(const environment_snapshot& snapshot, std::string_view name) {
    if (name == "power_source") return snapshot.power_source;
    if (name == "thermal_state") return snapshot.thermal_state;
    if (name == "cpu_governor") return snapshot.cpu_governor;
    if (name == "visibility") return snapshot.visibility;
    if (name == "cross_origin_isolated" && snapshot.cross_origin_isolated)
        return *snapshot.cross_origin_isolated ? "true" : "false";
    return std::nullopt;
}

std::optional<double> number_fact(const environment_snapshot& snapshot, std::string_view name, int logical_cores) {
    if (name == "battery_percent") return snapshot.battery_percent;
    if (name == "temperature_celsius") return snapshot.temperature_celsius;
    if (name == "memory_available_fraction") return snapshot.memory_available_fraction;
    if (name == "disk_free_gib") return snapshot.disk_free_gib;
    if (name == "other_browsers") return as_number(snapshot.other_browsers);
    if (name == "uptime_seconds") return snapshot.uptime_seconds;
    if (name == "asleep_seconds") return snapshot.asleep_seconds;
    if (name == "cpu_frequency_mhz") return snapshot.cpu_frequency_mhz;
    if (name == "timer_quantum_us") return snapshot.timer_quantum_us;
    if (name == "load_per_core" && snapshot.load_average_1m && logical_cores > 0)
        return *snapshot.load_average_1m / logical_cores;
    return std::nullopt;
}

std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::string words_of(std::string_view fact) {
    std::string words(fact);
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

std::string code_of(std::string_view fact) {
    std::string code = "environment-" + std::string(fact);
    std::replace(code.begin(), code.end(), '_', '-');
    return code;
}

std::string demand_of(const environment_rule& rule) {
    if (!rule.accept.empty()) {
        std::string text;
        for (const auto& value : rule.accept) text += (text.empty() ? "" : " or ") + value;
        return text;
    }
    if (rule.min && rule.max) return "between " + number_text(*rule.min) + " and " + number_text(*rule.max);
    return rule.min ? "at least " + number_text(*rule.min) : "at most " + number_text(*rule.max);
}

/// Why a fact does not meet its rule; absent when it does.
std::optional<reason> unmet(const std::string& fact, const environment_rule& rule, const environment_snapshot& snapshot,
                            int logical_cores) {
    std::optional<std::string> seen;
    bool met = false;
    if (const auto& texts = environment_text_facts(); std::find(texts.begin(), texts.end(), fact) != texts.end()) {
        seen = text_fact(snapshot, fact);
        met = seen && std::find(rule.accept.begin(), rule.accept.end(), *seen) != rule.accept.end();
    } else if (const auto number = number_fact(snapshot, fact, logical_cores)) {
        seen = number_text(*number);
        met = (!rule.min || *number >= *rule.min) && (!rule.max || *number <= *rule.max);
    }
    if (met || (!seen && rule.unknown_is_met)) return std::nullopt;
    if (!seen) return reason{code_of(fact), "the " + words_of(fact) + " is not known here; it must be " + demand_of(rule), {}};
    return reason{code_of(fact), "the " + words_of(fact) + " must be " + demand_of(rule), {{fact, *seen}}};
}

}  // namespace

policy_decision judge_environment(const environment_policy& policy, const environment_snapshot& snapshot, int logical_cores) {
    policy_decision decision;
    for (const auto& [fact, rule] : policy.rules) {
        if (rule.level == rule_level::ignore) continue;
        if (auto why = unmet(fact, rule, snapshot, logical_cores))
            (rule.level == rule_level::require ? decision.reasons : decision.warnings).push_back(std::move(*why));
    }
    decision.accepted = decision.reasons.empty();
    return decision;
}

policy_decision judge_proofs(const adapter_policy& adapter, const environment_policy& environment, const adapter_views& views,
                             const environment_snapshot& snapshot, int logical_cores) {
    policy_decision both = judge_adapter(adapter, views);
    policy_decision surroundings = judge_environment(environment, snapshot, logical_cores);
    both.accepted = both.accepted && surroundings.accepted;
    both.reasons.insert(both.reasons.end(), surroundings.reasons.begin(), surroundings.reasons.end());
    both.warnings.insert(both.warnings.end(), surroundings.warnings.begin(), surroundings.warnings.end());
    return both;
}

}  // namespace assay
