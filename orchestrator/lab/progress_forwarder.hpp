// Sends an agent's live events to its hub, in batches, never in a measurement's way.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "lab/hub_client.hpp"
#include "run/ports.hpp"

namespace assay::lab {

/// Events wait in a bounded list; when the hub is slow or away the oldest are dropped, since the receipt has
/// everything.
class progress_forwarder final : public progress_sink {
  public:
    /// `client` is this forwarder's alone and outlives it.
    explicit progress_forwarder(hub_client* client);
    ~progress_forwarder() override;
    void publish(run_progress progress) override;

  private:
    void send_loop();
    void send(const std::deque<run_progress>& events);

    hub_client* client_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<run_progress> events_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace assay::lab
