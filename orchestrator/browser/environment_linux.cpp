#include "browser/environment_linux.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace assay {

namespace fs = std::filesystem;

namespace {

std::string read_text(const fs::path& path) {
    // Through an insertion, which takes a failing read as the end: a process may end while its file is read, and an
    // iterator over the buffer would throw.
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

std::string first_line(const fs::path& path) {
    const std::string text = read_text(path);
    return text.substr(0, text.find('\n'));
}

std::optional<double> number_in(const std::string& text) {
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    double value = 0;
    if (!(in >> value)) return std::nullopt;
    return value;
}

/// The text after "name" and its separators in "name : value" lines; the first one counts.
std::optional<std::string> field_of(const std::string& text, const std::string& name, char separator) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto at = line.find(separator);
        if (at == std::string::npos) continue;
        std::string key = line.substr(0, at);
        key.erase(key.find_last_not_of(" \t") + 1);
        if (key != name) continue;
        std::string value = line.substr(at + 1);
        value.erase(0, value.find_first_not_of(" \t\""));
        value.erase(value.find_last_not_of(" \t\"") + 1);
        return value;
    }
    return std::nullopt;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
        entries.push_back(entry->path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

void read_power(const fs::path& root, environment_snapshot& snapshot) {
    bool any_supply = false, mains = false, discharging = false;
    for (const auto& supply : entries_of(root / "sys/class/power_supply")) {
        const auto type = first_line(supply / "type");
        if (type == "Mains" || type == "USB") {
            any_supply = true;
            mains |= first_line(supply / "online") == "1";
        }
        if (type == "Battery" && first_line(supply / "scope") != "Device") {
            any_supply = true;
            discharging |= first_line(supply / "status") == "Discharging";
            if (const auto charge = number_in(first_line(supply / "capacity"))) snapshot.battery_percent = charge;
        }
    }
    if (any_supply) snapshot.power_source = mains || !discharging ? "ac" : "battery";
}

/// The hottest zone that is the CPU's own; other zones (a disk, a radio) say nothing about throttling.
void read_temperature(const fs::path& root, environment_snapshot& snapshot) {
    const auto consider = [&](const std::string& millidegrees) {
        const auto value = number_in(millidegrees);
        if (!value || *value <= 0 || *value > 150000) return;
        snapshot.temperature_celsius = std::max(snapshot.temperature_celsius.value_or(0), *value / 1000);
    };
    for (const auto& zone : entries_of(root / "sys/class/thermal")) {
        const auto type = first_line(zone / "type");
        if (type.find("pkg") != type.npos || type.find("cpu") != type.npos || type.find("soc") != type.npos)
            consider(first_line(zone / "temp"));
    }
    for (const auto& sensor : entries_of(root / "sys/class/hwmon")) {
        const auto name = first_line(sensor / "name");
        if (name != "coretemp" && name != "k10temp" && name != "zenpower" && name != "cpu_thermal") continue;
        for (const auto& entry : entries_of(sensor)) {
            const auto file = entry.filename().string();
            if (file.starts_with("temp") && file.ends_with("_input")) consider(first_line(entry));
        }
    }
}

}  // namespace

void read_linux_machine(const fs::path& root, machine_facts& facts) {
    facts.os = "Linux";
    const auto release = read_text(root / "etc/os-release");
    const auto kernel = first_line(root / "proc/sys/kernel/osrelease");
    facts.os_version = field_of(release, "PRETTY_NAME", '=').value_or("");
    if (!kernel.empty()) facts.os_version += (facts.os_version.empty() ? "kernel " : ", kernel ") + kernel;
    const auto cpu = read_text(root / "proc/cpuinfo");
    facts.cpu_model = field_of(cpu, "model name", ':').value_or(field_of(cpu, "Model", ':').value_or("unknown"));
    const auto memory = read_text(root / "proc/meminfo");
    facts.memory_bytes =
        static_cast<std::uint64_t>(number_in(field_of(memory, "MemTotal", ':').value_or("")).value_or(0)) * 1024;
    const auto product = first_line(root / "sys/class/dmi/id/product_name");
    if (!product.empty()) facts.model_identifier = product;
}

void read_linux_snapshot(const fs::path& root, environment_snapshot& snapshot) {
    read_power(root, snapshot);
    read_temperature(root, snapshot);
    snapshot.load_average_1m = number_in(first_line(root / "proc/loadavg"));
    const auto memory = read_text(root / "proc/meminfo");
    const auto total = number_in(field_of(memory, "MemTotal", ':').value_or(""));
    const auto available = number_in(field_of(memory, "MemAvailable", ':').value_or(""));
    if (total && available && *total > 0) snapshot.memory_available_fraction = *available / *total;
    snapshot.uptime_seconds = number_in(first_line(root / "proc/uptime"));
    const auto scaling = root / "sys/devices/system/cpu/cpu0/cpufreq";
    if (const auto governor = first_line(scaling / "scaling_governor"); !governor.empty()) snapshot.cpu_governor = governor;
    if (const auto kilohertz = number_in(first_line(scaling / "scaling_cur_freq")))
        snapshot.cpu_frequency_mhz = *kilohertz / 1000;
    else if (const auto megahertz = number_in(field_of(read_text(root / "proc/cpuinfo"), "cpu MHz", ':').value_or("")))
        snapshot.cpu_frequency_mhz = megahertz;
}

int count_linux_browsers(const fs::path& root, const fs::path& own_profiles) {
    static const std::set<std::string> browsers{"chrome",  "chromium", "chromium-browse", "chromium-headle", "headless_shell",
                                                "firefox", "firefox-esr", "brave",        "msedge",          "opera",
                                                "vivaldi-bin", "epiphany", "Web Content", "Isolated Web Co"};
    int count = 0;
    for (const auto& process : entries_of(root / "proc")) {
        const auto name = process.filename().string();
        if (name.empty() || name.find_first_not_of("0123456789") != name.npos) continue;
        if (!browsers.contains(first_line(process / "comm"))) continue;
        std::error_code failure;
        const auto folder = fs::read_symlink(process / "cwd", failure).string();
        if (folder.starts_with(own_profiles.string())) continue;
        // Only browsers' main processes: their helpers would make one browser count as many.
        if (read_text(process / "cmdline").find("--type=") != std::string::npos) continue;
        ++count;
    }
    return count;
}

}  // namespace assay
