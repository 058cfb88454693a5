// The loop of `assay serve`: takes the oldest queued run whenever this machine is free, one at a time.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/measurement.hpp"

namespace assay {

class run_queue {
  public:
    run_queue(boost::asio::any_io_executor executor, measurement_services* services, std::vector<std::string> labels);

    /// Runs until stop(). A failure of one run never ends the loop; a lost database is retried with a pause.
    task<void> serve();
    /// A run was queued: look now instead of at the next poll. Call on the queue's executor.
    void wake();
    /// No further run is taken. The running one goes on unless `interrupt_running`. Call on the queue's executor.
    void stop(bool interrupt_running);
    /// Cancels the running run at once if it is this one. Call on the queue's executor.
    void cancel_running(const std::string& run);
    bool is_measuring() const { return static_cast<bool>(running_); }

  private:
    task<bool> take_one();
    task<void> wait_for_work();

    measurement_services* services_;
    std::vector<std::string> labels_;
    boost::asio::steady_timer wake_timer_;
    bool stopping_ = false;
    bool recovered_ = false;
    std::string running_id_;
    std::shared_ptr<stop_signal> running_;
    std::shared_ptr<stop_signal> lock_wait_;
};

}  // namespace assay
