#include "browser/environment_reader.hpp"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <boost/version.hpp>
#include <ctime>
#include <openssl/crypto.h>
#include <thread>

#include "browser/environment_linux.hpp"
#include "browser/environment_mac.hpp"

namespace assay {
namespace {

double seconds_of(clockid_t which) {
    timespec now{};
    ::clock_gettime(which, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A clock that stands still while the machine sleeps; the other one does not.
double awake_seconds() {
#ifdef __APPLE__
    return seconds_of(CLOCK_UPTIME_RAW);
#else
    return seconds_of(CLOCK_MONOTONIC);
#endif
}
double passed_seconds() {
#ifdef __APPLE__
    return seconds_of(CLOCK_MONOTONIC_RAW);
#else
    return seconds_of(CLOCK_BOOTTIME);
#endif
}

class system_environment final : public environment_reader {
  public:
    system_environment(std::filesystem::path home, std::string machine_id, std::string assay_version, const clock& time,
                       std::unique_ptr<system_commands> commands)
        : home_(std::filesystem::absolute(std::move(home))),
          machine_id_(std::move(machine_id)),
          assay_version_(std::move(assay_version)),
          time_(time),
          commands_(std::move(commands)),
          asleep_before_(passed_seconds() - awake_seconds()) {}

    machine_facts machine() override {
        machine_facts facts;
        facts.machine_id = machine_id_;
        facts.assay_version = assay_version_;
        std::array<char, 256> name{};
        if (::gethostname(name.data(), name.size() - 1) == 0) facts.hostname = name.data();
        utsname kernel{};
        if (::uname(&kernel) == 0) facts.architecture = kernel.machine;
        facts.logical_cores = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __APPLE__
        read_mac_machine(*commands_, facts);
#else
        read_linux_machine("/", facts);
#endif
        facts.dependencies = {{"boost", BOOST_LIB_VERSION},
                              {"compiler", __VERSION__},
                              {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)}};
        return facts;
    }

    environment_snapshot snapshot() override {
        environment_snapshot now;
        now.taken_at = format_utc(time_.now());
        const auto profiles = home_ / "profiles";
#ifdef __APPLE__
        read_mac_snapshot(*commands_, static_cast<double>(::time(nullptr)), now);
        now.other_browsers = count_mac_browsers(*commands_, profiles.string());
#else
        read_linux_snapshot("/", now);
        now.other_browsers = count_linux_browsers("/", profiles);
#endif
        struct statvfs space {};
        if (::statvfs(existing_parent().c_str(), &space) == 0)
            now.disk_free_gib = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize) / (1 << 30);
        now.asleep_seconds = std::max(0.0, passed_seconds() - awake_seconds() - asleep_before_);
        return now;
    }

  private:
    /// The home may not exist before the first run.
    std::filesystem::path existing_parent() const {
        std::error_code failure;
        auto folder = home_;
        while (!std::filesystem::exists(folder, failure) && folder.has_relative_path()) folder = folder.parent_path();
        return folder;
    }

    std::filesystem::path home_;
    std::string machine_id_, assay_version_;
    const clock& time_;
    std::unique_ptr<system_commands> commands_;
    double asleep_before_;
};

}  // namespace

std::unique_ptr<environment_reader> make_environment_reader(std::string machine_id, std::filesystem::path home,
                                                            std::string assay_version, const clock& time,
                                                            std::unique_ptr<system_commands> commands) {
    return std::make_unique<system_environment>(std::move(home), std::move(machine_id), std::move(assay_version), time,
                                                std::move(commands));
}

}  // namespace assay
