// Policies as data: what an adapter and an environment must be for a result to be called measured on them. See
// protocols/schemas/adapter-policy.schema.json and environment-policy.schema.json; the decisions are in gate/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace assay {

inline constexpr std::string_view adapter_policy_schema = "assay.adapter-policy/1.0";
inline constexpr std::string_view environment_policy_schema = "assay.environment-policy/1.0";

/// Bounds of the known-cost probe, in GFLOP/s.
struct probe_bounds {
    double min_gflops = 0;
    double max_gflops = 0;
    bool operator==(const probe_bounds&) const = default;
};

/// What an adapter must be. An absent list accepts anything; texts are compared in lower case.
struct adapter_policy {
    std::string name;
    std::string description;
    std::optional<std::vector<std::string>> vendors;        ///< of GPUAdapterInfo
    std::optional<std::vector<std::string>> architectures;  ///< of GPUAdapterInfo; "" stands for an empty one
    std::optional<std::vector<std::uint32_t>> pci_vendors;  ///< of SystemInfo's devices: one of them must be listed
    bool require_not_fallback = true;     ///< isFallbackAdapter === false; absent is not false
    bool refuse_software = true;
    bool refuse_virtual = true;
    bool require_devtools = true;         ///< the second view must be there
    bool require_agreement = true;        ///< both views must name the same vendor
    bool require_driver_version = false;  ///< SystemInfo must state the driver's version
    bool always_unqualified = false;      ///< lets anything run and never calls it measured
    std::optional<probe_bounds> probe;    ///< absent: the probe's rate is not judged
    bool operator==(const adapter_policy&) const = default;
};

enum class rule_level {
    require,  ///< not met: unqualified
    warn,     ///< not met: said, nothing more
    ignore,
};

/// What one fact of the environment must be: `accept` for texts, `min` and `max` for numbers.
struct environment_rule {
    rule_level level = rule_level::ignore;
    std::vector<std::string> accept;
    std::optional<double> min, max;
    bool unknown_is_met = false;  ///< whether a fact that this system does not tell passes
    bool operator==(const environment_rule&) const = default;
};

/// Rules by the name of the fact; see environment_fact_names().
struct environment_policy {
    std::string name;
    std::string description;
    std::map<std::string, environment_rule> rules;
    bool operator==(const environment_policy&) const = default;
};

/// The facts that a rule may name, those that are texts first.
const std::vector<std::string>& environment_text_facts();
const std::vector<std::string>& environment_number_facts();

/// Strict: unknown keys, unknown facts, wrong types, empty ranges and other schema versions are errors with a pointer.
result<adapter_policy> parse_adapter_policy(std::string_view json_text);
result<environment_policy> parse_environment_policy(std::string_view json_text);

/// Whether a policy may be named by a file's path (the command line) or by a shipped name only (HTTP).
enum class policy_source { names_only, names_and_files };

/// Reads <folder>/<name>.json, or the file of that path where `source` allows it and the name holds a '/' or ends in
/// ".json". not_found lists the shipped names.
result<adapter_policy> load_adapter_policy(const std::filesystem::path& folder, const std::string& name,
                                           policy_source source);
/// The same below <folder>/environment/.
result<environment_policy> load_environment_policy(const std::filesystem::path& folder, const std::string& name,
                                                   policy_source source);

}  // namespace assay
