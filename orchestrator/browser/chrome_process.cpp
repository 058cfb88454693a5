#include "browser/chrome_process.hpp"

#include <signal.h>

#include <string_view>

#include "browser/process_table.hpp"
#include "core/with_deadline.hpp"

namespace assay {

namespace asio = boost::asio;

namespace {

/// What every headless browser on a server says and what never explains a failure: without it the last lines are useful.
bool is_noise(std::string_view line) {
    constexpr std::string_view sources[] = {
        ":dbus/",                             // no desktop bus
        ":device/bluetooth/",                 // no Bluetooth
        ":media/gpu/vaapi/",                  // no video decoder
        ":google_apis/gcm/",                  // no push messages
        ":components/viz/service/main/",      // notices of the compositor's start
        "InitializeSandbox() called with",    // said at each start without a sandbox
        "DevTools remote debugging requires"  // advice for people
    };
    for (const auto source : sources)
        if (line.find(source) != line.npos) return true;
    return false;
}

}  // namespace

result<std::unique_ptr<browser_link>> chrome_process::start(asio::any_io_executor executor, chrome_launch launch,
                                                              const clock& time, random_source& random) {
    auto profile = profile_folder::create(launch.home, time, random);
    if (!profile) return profile.error();
    std::unique_ptr<chrome_process> process(new chrome_process);
    process->profile_ = std::move(*profile);

    child_specification specification;
    specification.program = launch.binary.string();
    specification.arguments = launch.switches;
    specification.arguments.push_back("--user-data-dir=" + process->profile_->user_data().string());
    process->stated_switches_ = launch.switches;
    process->stated_switches_.push_back("--user-data-dir=<profile>");
    specification.wiring = child_wiring::descriptors_3_and_4;
    specification.environment = std::move(launch.environment);
    // Every process of the browser inherits this folder, and few keep their environment readable: it marks them as ours.
    specification.working_directory = process->profile_path();
    specification.environment.emplace_back("ASSAY_PROFILE", process->profile_path());
    // What Chrome would leave in the common temporary folder when it is killed goes with the profile instead.
    specification.environment.emplace_back("TMPDIR", process->profile_->temporary_files().string());
    auto child = child_process::start(executor, specification);
    if (!child) return child.error();
    process->child_ = std::move(*child);

    process->lines_ = std::make_shared<ring_buffer<std::string>>(max_error_lines);
    line_handlers handlers;
    handlers.line = [lines = process->lines_](std::string line, bool) {
        if (!line.empty() && !is_noise(line)) lines->push(std::move(line));
    };
    process->errors_ = start_line_reader(executor, process->child_->take_standard_error(), max_error_line_bytes,
                                         std::move(handlers));
    process->connection_ = std::make_unique<cdp_connection>(
        executor, make_pipe_transport(executor, process->child_->take_reader(), process->child_->take_writer()));
    return std::unique_ptr<browser_link>(std::move(process));
}

chrome_process::~chrome_process() {
    connection_.reset();
    if (errors_) errors_->stop();
    child_.reset();    // kills and reaps the group
    profile_.reset();  // ends strays, removes the folder
}

std::vector<std::string> chrome_process::last_lines() const {
    return {lines_->values().begin(), lines_->values().end()};
}

std::optional<child_status> chrome_process::exit_status() { return child_->poll(); }

asio::awaitable<stop_report> chrome_process::stop(stop_limits limits) {
    stop_report report;
    bool ended = child_->poll().has_value();
    if (!ended && connection_->is_open()) {
        // The reply comes before the end of the process, so that it is the end that is waited for.
        connection_->send_only({}, "Browser.close", {});
        ended = co_await child_->wait_exit(limits.close);
    }
    if (!ended) {
        report.forced = true;
        child_->signal_group(SIGTERM);
        ended = co_await child_->wait_exit(limits.terminate);
    }
    if (!ended) {
        child_->signal_group(SIGKILL);
        ended = co_await child_->wait_exit(limits.kill);
    }
    child_->signal_group(SIGKILL);  // helpers that outlived the browser
    // The last of them ends a moment later; as PID 1 this process must reap it too.
    for (int attempt = 0; attempt < 50 && !child_->group_is_gone(); ++attempt)
        co_await sleep_for(std::chrono::milliseconds(4));
    connection_->close();
    errors_->stop();
    report.status = child_->poll();
    const auto commands = make_system_commands();
    report.profile_removed = profile_->remove(*commands);
    child_->reap_group();
    // Helpers that made a session of their own (the crash handler) come to PID 1 one by one as they end.
    for (int attempt = 0; attempt < 50 && !reap_adopted_children(); ++attempt) co_await sleep_for(std::chrono::milliseconds(4));
    co_return report;
}

}  // namespace assay
