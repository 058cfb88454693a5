#include "browser/profile_folder.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "browser/process_exit.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "support/temporary_folder.hpp"

using namespace assay;
namespace fs = std::filesystem;

namespace {

/// A process that sits in a folder until it is killed; its parent is this test.
pid_t sleeper_in(const fs::path& folder) {
    const std::string where = folder.string();
    const pid_t pid = ::fork();
    if (pid == 0) {
        if (::chdir(where.c_str()) == 0) ::execlp("sleep", "sleep", "60", nullptr);
        ::_exit(127);
    }
    // Until it has become the sleeper: its folder is then what the sweep looks at.
    for (int attempt = 0; attempt < 200; ++attempt) {
        std::ifstream name("/proc/" + std::to_string(pid) + "/comm");
        std::string text;
        if (name >> text && text == "sleep") break;
        ::usleep(5000);
    }
    return pid;
}

}  // namespace

TEST_CASE("removing a profile ends what still runs in it, and nothing else") {
    const test::temporary_folder home;
    real_clock time;
    system_random random;
    auto profile = profile_folder::create(home.path(), time, random).value();
    const pid_t ours = sleeper_in(profile->path());
    const pid_t stranger = sleeper_in(home.path());
    const auto commands = make_system_commands();
    CHECK(profile->remove(*commands));
    CHECK_FALSE(fs::exists(profile->path()));
    const bool gone = ::kill(ours, 0) != 0 || process_has_ended(ours);
    CHECK(gone);
    CHECK_EQ(::kill(stranger, 0), 0);
    ::kill(stranger, SIGKILL);
    ::waitpid(stranger, nullptr, 0);
    ::waitpid(ours, nullptr, WNOHANG);
}

TEST_CASE("a sweep takes the profiles of dead owners with their processes, and leaves the living and the unknown") {
    const test::temporary_folder home;
    real_clock time;
    system_random random;
    const auto living = profile_folder::create(home.path(), time, random).value();
    // The dead owner: its lock went with it, its browser did not.
    const fs::path orphan = home.path() / "profiles" / make_sortable_id(time, random);
    fs::create_directories(orphan / "Default");
    const pid_t browser = sleeper_in(orphan);
    fs::create_directories(home.path() / "profiles" / "not ours");

    const auto commands = make_system_commands();
    const auto report = sweep_profiles(home.path(), *commands);
    CHECK_EQ(report.folders_removed, 1);
    CHECK_EQ(report.folders_in_use, 1);
    CHECK_EQ(report.processes_ended, std::vector<pid_t>{browser});
    CHECK_FALSE(fs::exists(orphan));
    CHECK(fs::exists(living->path()));
    CHECK(fs::exists(home.path() / "profiles" / "not ours"));
    ::waitpid(browser, nullptr, WNOHANG);
    CHECK_EQ(sweep_profiles(home.path() / "nothing here", *commands).folders_removed, 0);
}

TEST_CASE("a home that cannot be written is an error that names the place") {
    real_clock time;
    system_random random;
    const auto refused = profile_folder::create("/proc/none", time, random);
    REQUIRE(refused.has_error());
    CHECK_EQ(refused.error().code, error_code::io_error);
    CHECK_NE(refused.error().message.find("/proc/none"), std::string::npos);
}

TEST_CASE("a browser's temporary folder is short enough for its sockets under a long home, and goes with the profile") {
    const test::temporary_folder folder;
    const fs::path home = folder.path() / std::string(120, 'h');
    real_clock time;
    system_random random;
    auto profile = profile_folder::create(home, time, random, std::nullopt).value();
    const fs::path temporary = profile->temporary_files();
    CHECK(temporary.string().size() + std::string("/org.chromium.Chromium.XXXXXX/SingletonSocket").size() < 104);
    CHECK(fs::is_directory(temporary));
    std::ofstream(temporary / "left behind") << "x";
    const auto commands = make_system_commands();
    CHECK(profile->remove(*commands));
    CHECK_FALSE(fs::exists(temporary));
    CHECK_FALSE(fs::exists(profile->path()));
}

TEST_CASE("a browser's files lie in memory where there is room, under the profile's name, and go with it") {
    const test::temporary_folder home;
    const test::temporary_folder memory;
    real_clock time;
    system_random random;
    auto profile = profile_folder::create(home.path(), time, random, memory.path()).value();
    CHECK(profile->user_data().string().starts_with(profile->path().string() + "/"));
    std::ofstream(profile->user_data() / "Local State") << "x";
    std::ofstream(profile->temporary_files() / "left behind") << "x";
    const fs::path real = fs::canonical(profile->user_data() / "Local State");
    CHECK(real.string().starts_with(memory.path().string() + "/"));
    CHECK_EQ(fs::status(profile->temporary_files()).permissions(), fs::perms::owner_all);
    const auto commands = make_system_commands();
    CHECK(profile->remove(*commands));
    CHECK_FALSE(fs::exists(profile->path()));
    CHECK(fs::is_empty(memory.path()));
}

TEST_CASE("a sweep removes what the profile of a dead owner keeps in memory") {
    const test::temporary_folder home;
    const test::temporary_folder memory;
    real_clock time;
    system_random random;
    const fs::path orphan = home.path() / "profiles" / make_sortable_id(time, random);
    const fs::path outside = memory.path() / "assay-0000000000000";
    fs::create_directories(orphan);
    fs::create_directories(outside / "data" / "Default");
    fs::create_directory_symlink(outside, orphan / "t");
    const auto commands = make_system_commands();
    CHECK_EQ(sweep_profiles(home.path(), *commands).folders_removed, 1);
    CHECK_FALSE(fs::exists(orphan));
    CHECK(fs::is_empty(memory.path()));
}

TEST_CASE("what a dying browser still writes into memory is removed too") {
    const test::temporary_folder home;
    const test::temporary_folder memory;
    real_clock time;
    system_random random;
    auto profile = profile_folder::create(home.path(), time, random, memory.path()).value();
    const fs::path data = fs::canonical(profile->user_data());
    std::atomic<bool> writes = false;
    std::thread browser([&] {
        for (int number = 0; number < 2000; ++number) {
            std::error_code gone;
            fs::create_directory(data / std::to_string(number), gone);
            writes = true;
        }
    });
    while (!writes) std::this_thread::yield();
    const auto commands = make_system_commands();
    CHECK(profile->remove(*commands));
    browser.join();
    CHECK_FALSE(fs::exists(profile->path()));
    CHECK(fs::is_empty(memory.path()));
}

TEST_CASE("only a folder that lies in memory is taken for one") {
    const test::temporary_folder on_disk;
    CHECK_EQ(find_memory_folder(on_disk.path() / "none"), std::nullopt);
    CHECK_EQ(find_memory_folder("/proc"), std::nullopt);
}
