#include "core/blocking_executor.hpp"

#include <utility>

namespace assay {

blocking_executor::blocking_executor(std::size_t threads, std::size_t max_queued) : max_queued_(max_queued) {
    for (std::size_t i = 0; i < (threads == 0 ? 1 : threads); ++i) threads_.emplace_back([this] { work_loop(); });
}

blocking_executor::~blocking_executor() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
}

bool blocking_executor::submit(std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        if (closed_ || queue_.size() >= max_queued_) return false;
        queue_.push_back(std::move(work));
    }
    changed_.notify_one();
    return true;
}

std::size_t blocking_executor::queued() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
}

void blocking_executor::work_loop() {
    for (;;) {
        std::function<void()> work;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
            if (queue_.empty()) return;
            work = std::move(queue_.front());
            queue_.pop_front();
        }
        work();
    }
}

}  // namespace assay
