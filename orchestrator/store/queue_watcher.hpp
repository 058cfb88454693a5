// Wakes an orchestrator when another one has queued a run: PostgreSQL's LISTEN.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace assay {

/// Listens on the channel that enqueue notifies. `queued` is called on the watcher's own thread, also once after each
/// reconnection, since news may have been missed. Only for postgresql:// stores; the destructor ends the thread.
class queue_watcher {
  public:
    queue_watcher(std::string url, std::function<void()> queued);
    ~queue_watcher();
    queue_watcher(const queue_watcher&) = delete;
    queue_watcher& operator=(const queue_watcher&) = delete;

  private:
    void listen();
    void listen_once();

    std::string url_;
    std::function<void()> queued_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace assay
