#include "browser/chrome_switches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "browser/chrome_discovery.hpp"
#include "support/temporary_folder.hpp"

using namespace assay;
namespace fs = std::filesystem;

namespace {

bool holds(const std::vector<std::string>& list, const std::string& entry) {
    return std::find(list.begin(), list.end(), entry) != list.end();
}

void touch(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
}

/// A system where exactly these files exist.
file_check only(std::set<std::string> files) {
    return [files = std::move(files)](const fs::path& path) { return files.contains(path.string()); };
}

environment_lookup variables(std::map<std::string, std::string> values) {
    return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
        const auto found = values.find(name);
        if (found == values.end()) return std::nullopt;
        return found->second;
    };
}

}  // namespace

TEST_CASE("every switch has a reason and stands once for each platform") {
    std::set<std::pair<std::string_view, switch_when>> seen;
    for (const auto& row : chrome_switch_table()) {
        CHECK(row.text.starts_with("--"));
        CHECK_MESSAGE(row.reason.size() > 10, row.text);
        const bool fresh = seen.insert({row.text.substr(0, row.text.find('=')), row.when}).second;
        CHECK_MESSAGE(fresh, row.text);
    }
}

TEST_CASE("the switches follow the browser, the user, the platform and the driver") {
    switch_conditions conditions;
    auto list = chrome_switches(conditions, {});
    CHECK_EQ(list.front(), "--headless=new");
    CHECK_FALSE(holds(list, "--no-sandbox"));
    CHECK_FALSE(holds(list, "--use-angle=vulkan"));
    CHECK(holds(list, "--disable-quic"));

    conditions = {browser_flavour::headless_shell, false, true, true, true};
    list = chrome_switches(conditions, {});
    CHECK_EQ(list.front(), "--headless");
    CHECK(holds(list, "--no-sandbox"));
    CHECK(holds(list, "--use-angle=vulkan"));
    CHECK(holds(list, "--disable-dev-shm-usage"));

    conditions.mac = true;
    list = chrome_switches(conditions, {});
    CHECK_FALSE(holds(list, "--no-sandbox"));
    CHECK_FALSE(holds(list, "--use-angle=vulkan"));
    CHECK(holds(list, "--use-mock-keychain"));
}

TEST_CASE("an extra switch replaces the one of its name, and one with '!' only removes") {
    switch_conditions conditions;
    conditions.linux_gpu_driver = true;
    const auto list = chrome_switches(conditions, {"--use-angle=swiftshader", "!--disable-quic", "--own"});
    CHECK_FALSE(holds(list, "--use-angle=vulkan"));
    CHECK(holds(list, "--use-angle=swiftshader"));
    CHECK_FALSE(holds(list, "--disable-quic"));
    CHECK_EQ(list.back(), "--own");
    CHECK_EQ(std::count_if(list.begin(), list.end(), [](const auto& s) { return s.starts_with("--use-angle"); }), 1);
}

TEST_CASE("a real Vulkan driver is told from one that computes on the CPU") {
    const test::temporary_folder root;
    CHECK_FALSE(has_linux_gpu_driver(root.path(), ""));
    CHECK(has_linux_gpu_driver(root.path(), "/usr/share/vulkan/icd.d/nvidia_icd.json"));
    CHECK_FALSE(has_linux_gpu_driver(root.path(), "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"));
    touch(root.path() / "dev/dri/renderD128");
    touch(root.path() / "usr/share/vulkan/icd.d/lvp_icd.x86_64.json");
    CHECK_FALSE(has_linux_gpu_driver(root.path(), ""));
    touch(root.path() / "usr/share/vulkan/icd.d/radeon_icd.x86_64.json");
    CHECK(has_linux_gpu_driver(root.path(), ""));
    const test::temporary_folder nvidia;
    touch(nvidia.path() / "dev/nvidiactl");
    CHECK(has_linux_gpu_driver(nvidia.path(), ""));
}

TEST_CASE("browsers are found by channel, best first, on Linux and on macOS") {
    const auto linux_found = find_browsers(
        host_system::linux_os, variables({{"PATH", "/usr/bin"}}),
        only({"/opt/google/chrome-beta/chrome", "/usr/bin/google-chrome-stable", "/usr/bin/chromium-headless-shell"}));
    REQUIRE_EQ(linux_found.size(), 3);
    CHECK_EQ(linux_found[0].channel, "beta");
    CHECK_EQ(linux_found[1].channel, "stable");
    CHECK_EQ(linux_found[2].channel, "headless-shell");
    CHECK_EQ(linux_found[2].flavour, browser_flavour::headless_shell);

    const std::string canary = "/Applications/Google Chrome Canary.app/Contents/MacOS/Google Chrome Canary";
    const std::string own = "/people/a/Applications/Chromium.app/Contents/MacOS/Chromium";
    const auto mac_found = find_browsers(host_system::mac_os, variables({{"HOME", "/people/a"}}), only({canary, own}));
    REQUIRE_EQ(mac_found.size(), 2);
    CHECK_EQ(mac_found[0].channel, "canary");
    CHECK_EQ(mac_found[1].path, own);
}

TEST_CASE("the browser asked for wins, then the variable; a wrong one is an error and not a search") {
    const auto exists = only({"/opt/google/chrome/chrome", "/mine"});
    CHECK_EQ(choose_browser("/mine", host_system::linux_os, variables({}), exists).value().path, "/mine");
    CHECK_EQ(choose_browser({}, host_system::linux_os, variables({{"ASSAY_BROWSER", "/mine"}}), exists).value().path,
             "/mine");
    CHECK_EQ(choose_browser({}, host_system::linux_os, variables({}), exists).value().channel, "stable");
    const auto missing = choose_browser("/nowhere", host_system::linux_os, variables({}), exists);
    CHECK_EQ(missing.error().code, error_code::browser_not_found);
    CHECK_NE(missing.error().message.find("/nowhere"), std::string::npos);
    CHECK_EQ(choose_browser({}, host_system::linux_os, variables({{"CHROME", "/gone"}}), exists).error().field,
             "CHROME");
    CHECK_FALSE(choose_browser({}, host_system::linux_os, variables({}), only({})).error().remedy.empty());
}

TEST_CASE("a version is read from what a browser prints") {
    struct printed final : system_commands {
        std::string text;
        std::optional<std::string> output_of(const std::vector<std::string>&) override { return text; }
    } commands;
    commands.text = "Google Chrome 156.0.8078.114 \n";
    CHECK_EQ(read_browser_version("/x", commands), "Google Chrome 156.0.8078.114");
    commands.text = "Chromium 156.0.8078.114 built on Debian GNU/Linux 12 (bookworm)\n";
    CHECK_EQ(read_browser_version("/x", commands), "Chromium 156.0.8078.114");
    commands.text = "nonsense\n1.2.3.4";
    CHECK_FALSE(read_browser_version("/x", commands));
}
