// Waiting for the end of any process, our child or not.
#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>

namespace assay {

/// Waits until the process has ended (a zombie has), at most `limit`; true when it has. Linux waits on a pidfd, which costs
/// nothing while nothing happens; elsewhere the process is looked at every 10 ms.
boost::asio::awaitable<bool> wait_process_exit(boost::asio::any_io_executor executor, pid_t process,
                                               std::chrono::milliseconds limit);

/// Whether the process has ended, a zombie included; never blocks.
bool process_has_ended(pid_t process);

}  // namespace assay
