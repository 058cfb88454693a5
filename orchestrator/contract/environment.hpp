// Facts of the machine and of the moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// What does not change while a run lasts.
struct machine_facts {
    std::string machine_id;  ///< the fingerprint of the machine's signing key
    std::string hostname;
    std::string os;          ///< "Linux", "macOS"
    std::string os_version;
    std::string architecture;  ///< "x86_64", "arm64"
    std::string cpu_model;
    int logical_cores = 0;
    std::uint64_t memory_bytes = 0;
    std::optional<std::string> model_identifier;  ///< "Mac16,1"
    std::string assay_version;
    std::vector<std::pair<std::string, std::string>> dependencies;  ///< name, version used
    bool operator==(const machine_facts&) const = default;
};

/// One look at the environment. What could not be read on this system is absent.
struct environment_snapshot {
    std::string taken_at;  ///< UTC
    std::optional<std::string> power_source;      ///< "ac", "battery"
    std::optional<double> battery_percent;
    std::optional<std::string> thermal_state;     ///< "nominal", "fair", "serious", "critical"
    std::optional<double> temperature_celsius;    ///< hottest CPU sensor
    std::optional<double> load_average_1m;
    std::optional<double> memory_available_fraction;
    std::optional<double> disk_free_gib;          ///< of the home's file system
    std::optional<int> other_browsers;            ///< browser processes that are not ours
    std::optional<double> uptime_seconds;
    std::optional<double> asleep_seconds;         ///< wall clock less monotonic clock since the run began
    std::optional<double> cpu_frequency_mhz;
    std::optional<std::string> cpu_governor;
    // the page's part
    std::optional<bool> cross_origin_isolated;
    std::optional<std::string> visibility;
    std::optional<double> timer_quantum_us;
    bool operator==(const environment_snapshot&) const = default;
};

}  // namespace assay
