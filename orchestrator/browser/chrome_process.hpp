// One Chrome: its process group, its profile, its pipe and what it writes to standard error.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "browser/browser_link.hpp"
#include "browser/child_process.hpp"
#include "browser/line_reader.hpp"
#include "browser/profile_folder.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "core/ring_buffer.hpp"

namespace assay {

/// What a launch needs.
struct chrome_launch {
    std::filesystem::path binary;
    std::vector<std::string> switches;  ///< all but the profile's
    std::vector<std::pair<std::string, std::string>> environment;
    std::filesystem::path home;         ///< the profile is made below <home>/profiles
};

/// A running Chrome. The destructor kills the group and removes the profile.
class chrome_process final : public browser_link {
  public:
    static result<std::unique_ptr<browser_link>> start(boost::asio::any_io_executor executor, chrome_launch launch,
                                                       const clock& time, random_source& random);
    ~chrome_process() override;

    /// Over the pipe, not started: set its handlers, then start() it.
    cdp_connection& connection() override { return *connection_; }
    std::string profile_path() const { return profile_->path().string(); }
    /// The last lines of standard error, oldest first.
    std::vector<std::string> last_lines() const override;
    /// The command line after the binary with the profile's path replaced by "<profile>".
    const std::vector<std::string>& stated_switches() const override { return stated_switches_; }
    bool is_ours() const override { return true; }
    /// How the process ended, if it has.
    std::optional<child_status> exit_status() override;

    /// Browser.close, then TERM, then KILL of the whole group, each after its limit; reaps, ends what still names the
    /// profile, and removes it. Never throws.
    boost::asio::awaitable<stop_report> stop(stop_limits limits) override;

  private:
    chrome_process() = default;

    std::unique_ptr<profile_folder> profile_;
    std::unique_ptr<child_process> child_;
    std::shared_ptr<line_reader> errors_;
    std::shared_ptr<ring_buffer<std::string>> lines_;
    std::unique_ptr<cdp_connection> connection_;
    std::vector<std::string> stated_switches_;
};

inline constexpr std::size_t max_error_lines = 100;
inline constexpr std::size_t max_error_line_bytes = 2000;

}  // namespace assay
