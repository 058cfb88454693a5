// Blocking work on its own threads, bounded: the store's calls never run on a thread that serves or measures.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace assay {

/// Takes work that may block.
class work_executor {
  public:
    virtual ~work_executor() = default;
    /// Queues `work`; false when the queue is full or closed (the work will then never run).
    virtual bool submit(std::function<void()> work) = 0;
};

/// A fixed number of threads over one bounded queue, first in first out. With one thread, calls are serial. The
/// destructor finishes what is queued. Work must not throw.
class blocking_executor final : public work_executor {
  public:
    explicit blocking_executor(std::size_t threads = 1, std::size_t max_queued = 1024);
    ~blocking_executor() override;
    blocking_executor(const blocking_executor&) = delete;
    blocking_executor& operator=(const blocking_executor&) = delete;

    bool submit(std::function<void()> work) override;
    /// How many pieces of work wait.
    std::size_t queued() const;

  private:
    void work_loop();

    const std::size_t max_queued_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> queue_;
    bool closed_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace assay
