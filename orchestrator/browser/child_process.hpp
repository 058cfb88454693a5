// A child process in its own process group, with the pipes that a browser or an arm's command needs.
#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/start_program.hpp"

namespace assay {

/// What the child's protocol pipes are wired to.
enum class child_wiring {
    descriptors_3_and_4,  ///< Chrome's --remote-debugging-pipe: it reads 3 and writes 4; standard output is discarded
    standard_streams,     ///< reads standard input, writes standard output
};

struct child_specification {
    std::string program;                                           ///< a path, or a name to find on PATH
    std::vector<std::string> arguments;                            ///< after the program's name
    std::vector<std::pair<std::string, std::string>> environment;  ///< added to, or replacing parts of, ours
    child_wiring wiring = child_wiring::standard_streams;
    std::string working_directory;  ///< empty: ours
};

/// How a child ended.
struct child_status {
    std::optional<int> exit_code;
    std::optional<int> signal;
    std::string text() const;  ///< "exit status 3" or "signal 9"
};

/// A running child. The destructor kills its whole group and reaps it.
class child_process {
  public:
    /// Starts it. A program that cannot be executed is browser_launch_failed with the system's reason. On Linux the
    /// child is killed when the calling THREAD ends (PR_SET_PDEATHSIG): start children on a thread that outlives them.
    static result<std::unique_ptr<child_process>> start(boost::asio::any_io_executor executor,
                                                        const child_specification& specification);
    ~child_process();
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    pid_t pid() const { return pid_; }
    /// Our ends, non-blocking and close-on-exec; each can be taken once.
    unique_descriptor take_writer() { return std::move(writer_); }
    unique_descriptor take_reader() { return std::move(reader_); }
    unique_descriptor take_standard_error() { return std::move(standard_error_); }

    /// Sends a signal to every process of the group.
    void signal_group(int signal_number);
    /// Reaps the child if it has ended; never blocks.
    const std::optional<child_status>& poll();
    /// Waits until the child has ended and is reaped, at most `limit`; false when it still runs.
    boost::asio::awaitable<bool> wait_exit(std::chrono::milliseconds limit);
    /// Reaps every ended process of the group that became ours (this process may be PID 1 or a subreaper).
    void reap_group();
    /// Reaps what it can and says whether no process of the group runs any more.
    bool group_is_gone();

  private:
    child_process(boost::asio::any_io_executor executor, pid_t pid) : executor_(std::move(executor)), pid_(pid) {}

    boost::asio::any_io_executor executor_;
    pid_t pid_;
    std::optional<child_status> status_;
    unique_descriptor writer_, reader_, standard_error_;
};

}  // namespace assay
