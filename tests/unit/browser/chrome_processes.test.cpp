// Processes of a browser that die or stop in the middle of a measurement.
#include <doctest/doctest.h>
#include <signal.h>

#include <fstream>
#include <iterator>

#include "browser/process_table.hpp"
#include "browser/system_commands.hpp"
#include "host_fixture.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

std::string command_line_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Sends a signal to the profile's processes whose command line holds `kind`; "" means the browser itself.
int signal_processes(const std::filesystem::path& profile, const std::string& kind, int number) {
    const auto commands = make_system_commands();
    int hit = 0;
    for (const pid_t pid : processes_of_profile(profile.string(), *commands)) {
        const auto line = command_line_of(pid);
        const bool is_browser = line.find("--type=") == std::string::npos;
        if (kind.empty() ? is_browser : line.find("--type=" + kind) != std::string::npos) {
            ::kill(pid, number);
            ++hit;
        }
    }
    return hit;
}

/// A visit whose measure() never ends by itself, while processes of a kind get a signal.
visit disturbed(const std::string& kind, int number, std::chrono::milliseconds silence = 8s) {
    const page_site site({{"/arm/", arm_page("await new Promise(() => {})")}});
    int hit = 0;
    auto seen = visit_page(site, "/arm/", silence, [&](const std::filesystem::path& profile) {
        hit = signal_processes(profile, kind, number);
    });
    CHECK(hit > 0);
    CHECK_FALSE(seen.profile_left);
    CHECK_EQ(seen.processes_left, 0);
    REQUIRE(seen.failure);
    return seen;
}

}  // namespace

TEST_CASE("a killed browser is reported with its signal") {
    const auto seen = disturbed("", SIGKILL);
    CHECK_EQ(seen.failure->code, error_code::browser_crashed);
    CHECK_EQ(seen.failure->reason, "crashed");
    CHECK(seen.seconds < 6);
}

TEST_CASE("a stopped browser is silence, and it is killed in bounded time") {
    const auto seen = disturbed("", SIGSTOP, 1s);
    CHECK_EQ(seen.failure->reason, "silence");
    CHECK(seen.closed.forced);
    CHECK(seen.seconds < 15);
}

TEST_CASE("a killed renderer is a crashed page") {
    const auto seen = disturbed("renderer", SIGKILL);
    CHECK_EQ(seen.failure->reason, "page-crashed");
    CHECK(seen.seconds < 8);
}

TEST_CASE("a killed GPU process ends the arm under its own name") {
    const auto seen = disturbed("gpu-process", SIGKILL);
    CHECK_EQ(seen.failure->reason, "gpu-process-crashed");
    CHECK(seen.seconds < 8);
}

TEST_CASE("a pipe that is cut while the browser runs on is a lost connection, and the browser is ended") {
    // Between us and the browser stand two relays; the one that carries the browser's words is killed.
    temporary_folder folder;
    const auto relay = folder.path() / "chromium-headless-shell";
    std::ofstream(relay)
        << "#!/bin/sh\nmkfifo t/in t/out\n\"" << test_browser().string()
        << "\" \"$@\" 3<t/in 4>t/out &\ncat <&3 >t/in 4>&- &\ncat <t/out >&4 3<&- &\nexec 3<&- 4>&-\nwait\n";
    std::filesystem::permissions(relay, std::filesystem::perms::owner_all);
    const page_site site({{"/arm/", arm_page("await new Promise(() => {})")}});
    int hit = 0;
    const auto cut = [&](const std::filesystem::path& profile) {
        const auto commands = make_system_commands();
        for (const pid_t pid : processes_of_profile(profile.string(), *commands)) {
            std::error_code none;
            const auto output = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/fd/1", none).string();
            if (command_line_of(pid).starts_with("cat") && output.starts_with("pipe:")) {
                ::kill(pid, SIGKILL);
                ++hit;
            }
        }
    };
    const auto seen = visit_page(site, "/arm/", 8s, cut, {}, relay);
    CHECK_EQ(hit, 1);
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->reason, "connection-lost");
    CHECK(seen.seconds < 12);
    CHECK_FALSE(seen.profile_left);
    CHECK_EQ(seen.processes_left, 0);
}

TEST_CASE("a stopped renderer is silence") {
    const auto seen = disturbed("renderer", SIGSTOP, 1s);
    CHECK_EQ(seen.failure->reason, "silence");
    CHECK(seen.seconds < 15);
}
