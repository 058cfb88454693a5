#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "browser/environment_linux.hpp"
#include "browser/environment_mac.hpp"
#include "browser/process_table.hpp"
#include "support/temporary_folder.hpp"

using namespace assay;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

/// Commands with fixed answers. Each answer below is constructed after the command's manual and public reports; no Mac
/// was at hand.
class canned_commands final : public system_commands {
  public:
    explicit canned_commands(std::map<std::string, std::string> answers) : answers_(std::move(answers)) {}
    std::optional<std::string> output_of(const std::vector<std::string>& arguments) override {
        std::string line;
        for (const auto& argument : arguments) line += (line.empty() ? "" : " ") + argument;
        const auto found = answers_.find(line);
        if (found == answers_.end()) return std::nullopt;
        return found->second;
    }

  private:
    std::map<std::string, std::string> answers_;
};

}  // namespace

TEST_CASE("Linux: a laptop on battery with a hot package is read from /proc and /sys") {
    const test::temporary_folder root;  // constructed after a laptop's files
    write(root.path() / "sys/class/power_supply/AC/type", "Mains\n");
    write(root.path() / "sys/class/power_supply/AC/online", "0\n");
    write(root.path() / "sys/class/power_supply/BAT0/type", "Battery\n");
    write(root.path() / "sys/class/power_supply/BAT0/status", "Discharging\n");
    write(root.path() / "sys/class/power_supply/BAT0/capacity", "41\n");
    write(root.path() / "sys/class/power_supply/hid-mouse/type", "Battery\n");
    write(root.path() / "sys/class/power_supply/hid-mouse/scope", "Device\n");
    write(root.path() / "sys/class/power_supply/hid-mouse/capacity", "3\n");
    write(root.path() / "sys/class/thermal/thermal_zone0/type", "iwlwifi_1\n");
    write(root.path() / "sys/class/thermal/thermal_zone0/temp", "99000\n");
    write(root.path() / "sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    write(root.path() / "sys/class/thermal/thermal_zone1/temp", "87500\n");
    write(root.path() / "proc/loadavg", "2.50 1.00 0.50 3/512 4242\n");
    write(root.path() / "proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    4000000 kB\n");
    write(root.path() / "proc/uptime", "351.74 600.00\n");
    write(root.path() / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    write(root.path() / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1800000\n");
    environment_snapshot seen;
    read_linux_snapshot(root.path(), seen);
    CHECK_EQ(seen.power_source, "battery");
    CHECK_EQ(seen.battery_percent, 41);
    CHECK_EQ(seen.temperature_celsius, 87.5);
    CHECK_EQ(seen.load_average_1m, 2.5);
    CHECK_EQ(seen.memory_available_fraction, 0.25);
    CHECK_EQ(seen.uptime_seconds, 351.74);
    CHECK_EQ(seen.cpu_governor, "powersave");
    CHECK_EQ(seen.cpu_frequency_mhz, 1800);
}

TEST_CASE("Linux: what a container does not show is absent, not zero") {
    const test::temporary_folder root;
    environment_snapshot seen;
    read_linux_snapshot(root.path(), seen);
    CHECK_EQ(seen, environment_snapshot{});
    write(root.path() / "etc/os-release",
          "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    write(root.path() / "proc/sys/kernel/osrelease", "6.1.0\n");
    write(root.path() / "proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\n");
    write(root.path() / "proc/meminfo", "MemTotal:       1000 kB\n");
    machine_facts machine;
    read_linux_machine(root.path(), machine);
    CHECK_EQ(machine.os_version, "Debian GNU/Linux 12 (bookworm), kernel 6.1.0");
    CHECK_EQ(machine.cpu_model, "Some CPU @ 2.0GHz");
    CHECK_EQ(machine.memory_bytes, 1024000);
}

TEST_CASE("Linux: other people's browsers are counted by their main process, ours are not") {
    const test::temporary_folder root;
    const auto process = [&](const std::string& pid, const std::string& name, const std::string& command,
                             const fs::path& folder) {
        write(root.path() / "proc" / pid / "comm", name + "\n");
        write(root.path() / "proc" / pid / "cmdline", command);
        fs::create_symlink(folder, root.path() / "proc" / pid / "cwd");
    };
    process("10", "chrome", "chrome", "/home/a");
    process("11", "chrome", std::string("chrome\0--type=renderer", 22), "/home/a");
    process("12", "firefox", "firefox", "/home/a");
    process("13", "chromium", "chromium", "/data/profiles/01ABC");
    process("14", "bash", "bash", "/home/a");
    CHECK_EQ(count_linux_browsers(root.path(), "/data/profiles"), 2);
}

TEST_CASE("Linux: a process that ends while its files are read is passed over") {
    const test::temporary_folder root;
    // The memory of a process opens and cannot be read from its start: a read fails as that of an ended process does.
    for (const char* name : {"comm", "cmdline", "environ"}) {
        fs::create_directories(root.path() / "proc" / "20");
        fs::create_symlink("/proc/self/mem", root.path() / "proc" / "20" / name);
    }
    write(root.path() / "proc" / "21" / "comm", "chrome\n");
    write(root.path() / "proc" / "21" / "cmdline", "chrome --user-data-dir=/h/profiles/P1");
    CHECK_EQ(count_linux_browsers(root.path(), "/data/profiles"), 1);
    const auto commands = make_system_commands();
    CHECK_EQ(processes_of_profile("/h/profiles/P1", *commands, root.path() / "proc"), std::vector<pid_t>{21});
}

TEST_CASE(
    "processes of a profile are known by folder, command line or environment, and a longer name is another profile") {
    const test::temporary_folder root;
    const auto process = [&](int pid, const std::string& command, const std::string& environment,
                             const fs::path& folder) {
        const auto at = root.path() / std::to_string(pid);
        write(at / "cmdline", command);
        write(at / "environ", environment);
        fs::create_symlink(folder, at / "cwd");
    };
    const std::string zero(1, '\0');
    process(1001, "chrome" + zero + "--user-data-dir=/h/profiles/P1" + zero, "", "/");
    process(1002, "handler" + zero + "--database=/h/profiles/P1/Crashpad" + zero, "", "/");
    process(1003, "other", "A=1" + zero + "ASSAY_PROFILE=/h/profiles/P1" + zero, "/");
    process(1004, "renderer", "", "/h/profiles/P1");
    process(1005, "chrome" + zero + "--user-data-dir=/h/profiles/P10" + zero, "", "/h/profiles/P10");
    process(::getpid(), "self --user-data-dir=/h/profiles/P1", "", "/h/profiles/P1");
    const auto commands = make_system_commands();
    auto found = processes_of_profile("/h/profiles/P1", *commands, root.path());
    std::sort(found.begin(), found.end());
    CHECK_EQ(found, std::vector<pid_t>{1001, 1002, 1003, 1004});
    const std::string listing =
        "  501 /Applications/C --user-data-dir=/h/profiles/P1 --x\n  502 C --user-data-dir=/h/profiles/P12\nrubbish\n";
    CHECK_EQ(processes_in_listing(listing, "/h/profiles/P1"), std::vector<pid_t>{501});
}

TEST_CASE("macOS: battery and mains are told apart in what pmset prints") {
    environment_snapshot seen;
    read_pmset_battery(
        "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1234)\t87%; discharging; 5:12 remaining present: "
        "true\n",
        seen);
    CHECK_EQ(seen.power_source, "battery");
    CHECK_EQ(seen.battery_percent, 87);
    environment_snapshot desktop;
    read_pmset_battery("Now drawing from 'AC Power'\n", desktop);
    CHECK_EQ(desktop.power_source, "ac");
    CHECK_FALSE(desktop.battery_percent);
}

TEST_CASE("macOS: thermal pressure follows the speed limit") {
    CHECK_EQ(thermal_state_of("CPU_Scheduler_Limit \t= 100\n\tCPU_Available_CPUs \t= 8\n\tCPU_Speed_Limit \t= 100\n"),
             "nominal");
    CHECK_EQ(thermal_state_of("CPU_Speed_Limit = 85\n"), "fair");
    CHECK_EQ(thermal_state_of("CPU_Speed_Limit = 60\n"), "serious");
    CHECK_EQ(thermal_state_of("CPU_Speed_Limit = 20\n"), "critical");
    CHECK_EQ(thermal_state_of("Note: No thermal warning level has been recorded\n"), "nominal");
    CHECK_FALSE(thermal_state_of("what?"));
}

TEST_CASE("macOS: machine and moment are read from the commands' output") {
    canned_commands commands({
        {"sw_vers -productVersion", "15.1\n"},
        {"sw_vers -buildVersion", "24B83\n"},
        {"sysctl -n machdep.cpu.brand_string", "Apple M4 Pro\n"},
        {"sysctl -n hw.memsize", "25769803776\n"},
        {"sysctl -n hw.model", "Mac16,8\n"},
        {"sysctl -n vm.loadavg", "{ 1.93 2.04 2.15 }\n"},
        {"sysctl -n kern.boottime", "{ sec = 1796000000, usec = 1 } Mon Nov 30 10:00:00 2026\n"},
        {"vm_stat",
         "Mach Virtual Memory Statistics: (page size of 16384 bytes)\nPages free:   393216.\nPages active:  1.\nPages "
         "inactive: 393216.\n"},
        {"pmset -g batt", "Now drawing from 'AC Power'\n -InternalBattery-0\t100%; charged;\n"},
        {"ps -axwwo pid=,command=",
         " 1 /sbin/launchd\n 77 /Applications/Google Chrome.app/Contents/MacOS/Google Chrome\n"
         " 78 /Applications/Google Chrome.app/Contents/MacOS/Google Chrome --type=renderer\n"
         " 79 /Applications/Google Chrome.app/Contents/MacOS/Google Chrome --user-data-dir=/h/profiles/P "
         "--headless=new\n"
         " 80 /Applications/Safari.app/Contents/MacOS/Safari\n"},
    });
    machine_facts machine;
    read_mac_machine(commands, machine);
    CHECK_EQ(machine.os_version, "15.1 (24B83)");
    CHECK_EQ(machine.cpu_model, "Apple M4 Pro");
    CHECK_EQ(machine.memory_bytes, 25769803776ULL);
    CHECK_EQ(machine.model_identifier, "Mac16,8");
    environment_snapshot seen;
    read_mac_snapshot(commands, 1796000500, seen);
    CHECK_EQ(seen.load_average_1m, 1.93);
    CHECK_EQ(seen.uptime_seconds, 500);
    CHECK_EQ(seen.memory_available_fraction, 0.5);
    CHECK_EQ(seen.power_source, "ac");
    CHECK_FALSE(seen.thermal_state);
    CHECK_EQ(count_mac_browsers(commands, "/h/profiles"), 2);
}

TEST_CASE("a system command that fails, is missing or never ends is absent in bounded time") {
    const auto commands = make_system_commands(std::chrono::milliseconds(200));
    CHECK_EQ(commands->output_of({"echo", "hello"}), "hello\n");
    CHECK_FALSE(commands->output_of({"false"}));
    CHECK_FALSE(commands->output_of({"no-such-command-here"}));
    CHECK_FALSE(commands->output_of({"sleep", "30"}));
    CHECK_FALSE(commands->output_of({}));
}
