#include "browser/environment_mac.hpp"

#include <algorithm>
#include <array>
#include <locale>
#include <sstream>

namespace assay {
namespace {

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::string said(system_commands& commands, const std::vector<std::string>& arguments) {
    return trimmed(commands.output_of(arguments).value_or(""));
}

std::optional<double> number_in(std::string_view text) {
    const auto first = text.find_first_of("0123456789");
    if (first == text.npos) return std::nullopt;
    std::istringstream in{std::string(text.substr(first))};
    in.imbue(std::locale::classic());
    double value = 0;
    if (!(in >> value)) return std::nullopt;
    return value;
}

std::optional<double> number_after(std::string_view text, std::string_view name) {
    const auto at = text.find(name);
    if (at == text.npos) return std::nullopt;
    const auto rest = text.substr(at + name.size());
    return number_in(rest.substr(0, rest.find('\n')));
}

}  // namespace

void read_pmset_battery(std::string_view output, environment_snapshot& snapshot) {
    if (output.find("'AC Power'") != output.npos) snapshot.power_source = "ac";
    if (output.find("'Battery Power'") != output.npos) snapshot.power_source = "battery";
    const auto percent = output.find("%;");
    if (percent == output.npos) return;
    auto start = percent;
    while (start > 0 && output[start - 1] >= '0' && output[start - 1] <= '9') --start;
    snapshot.battery_percent = number_in(output.substr(start, percent - start));
}

std::optional<std::string> thermal_state_of(std::string_view pmset_therm) {
    if (const auto limit = number_after(pmset_therm, "CPU_Speed_Limit")) {
        if (*limit >= 100) return "nominal";
        if (*limit >= 80) return "fair";
        return *limit >= 50 ? "serious" : "critical";
    }
    if (pmset_therm.find("No thermal warning level has been recorded") != pmset_therm.npos) return "nominal";
    return std::nullopt;
}

std::optional<double> memory_available_of(std::string_view vm_stat, double memory_bytes) {
    const auto page = number_after(vm_stat, "page size of");
    const auto free = number_after(vm_stat, "Pages free:");
    if (!page || !free || memory_bytes <= 0) return std::nullopt;
    const double pages = *free + number_after(vm_stat, "Pages inactive:").value_or(0) +
                         number_after(vm_stat, "Pages speculative:").value_or(0);
    return std::min(1.0, pages * *page / memory_bytes);
}

void read_mac_machine(system_commands& commands, machine_facts& facts) {
    facts.os = "macOS";
    facts.os_version = said(commands, {"sw_vers", "-productVersion"});
    if (const auto build = said(commands, {"sw_vers", "-buildVersion"}); !build.empty()) facts.os_version += " (" + build + ")";
    facts.cpu_model = said(commands, {"sysctl", "-n", "machdep.cpu.brand_string"});
    if (facts.cpu_model.empty()) facts.cpu_model = "unknown";
    facts.memory_bytes = static_cast<std::uint64_t>(number_in(said(commands, {"sysctl", "-n", "hw.memsize"})).value_or(0));
    if (auto model = said(commands, {"sysctl", "-n", "hw.model"}); !model.empty()) facts.model_identifier = std::move(model);
}

void read_mac_snapshot(system_commands& commands, double now_unix_seconds, environment_snapshot& snapshot) {
    read_pmset_battery(said(commands, {"pmset", "-g", "batt"}), snapshot);
    snapshot.thermal_state = thermal_state_of(said(commands, {"pmset", "-g", "therm"}));
    // "{ 1.93 2.04 2.15 }"
    snapshot.load_average_1m = number_in(said(commands, {"sysctl", "-n", "vm.loadavg"}));
    const auto memory = number_in(said(commands, {"sysctl", "-n", "hw.memsize"}));
    snapshot.memory_available_fraction = memory_available_of(said(commands, {"vm_stat"}), memory.value_or(0));
    // "{ sec = 1796000000, usec = 0 } Mon Nov 30 ..."
    if (const auto started = number_after(said(commands, {"sysctl", "-n", "kern.boottime"}), "sec = "))
        snapshot.uptime_seconds = std::max(0.0, now_unix_seconds - *started);
}

int count_mac_browsers(system_commands& commands, const std::string& own_profiles) {
    constexpr std::array<std::string_view, 9> browsers{
        "/Google Chrome", "/Google Chrome Beta", "/Google Chrome Canary", "/Chromium", "/Safari", "/firefox", "/Brave Browser",
        "/Microsoft Edge", "/Arc"};
    const auto listing = commands.output_of({"ps", "-axwwo", "pid=,command="}).value_or("");
    std::istringstream lines(listing);
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto inside = line.find(".app/Contents/MacOS/");
        if (inside == line.npos || line.find("--type=") != line.npos || line.find(own_profiles) != line.npos) continue;
        const auto name = std::string_view(line).substr(inside + std::string_view(".app/Contents/MacOS").size());
        // The program's name ends the line, or its switches begin.
        const auto end = std::min(name.find(" --"), name.size());
        count += std::find(browsers.begin(), browsers.end(), trimmed(name.substr(0, end))) != browsers.end();
    }
    return count;
}

}  // namespace assay
