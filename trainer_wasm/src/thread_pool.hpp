// One persistent pool: threads are started once, and a job costs an atomic store to begin and an atomic read to end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>

namespace assay::trainer {

/// Runs numbered tasks on the calling thread and `threads - 1` workers. Which thread runs a task is left to chance, so
/// a task must own everything that it writes; results then do not depend on the number of threads.
///
/// Nothing is allocated after construction. Only the thread that made the pool may call `run`.
class thread_pool {
  public:
    /// Tasks of one job at most (24 bits in the word that hands them out).
    static constexpr std::uint32_t max_tasks = (1u << 24) - 1024;
    static constexpr int max_threads = 256;

    /// Starts `threads - 1` workers, threads within 1..max_threads.
    explicit thread_pool(int threads);
    ~thread_pool();
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;

    int threads() const { return thread_count_; }

    /// Calls `task(index, thread)` for every index below `count`, thread within 0..threads()-1, and returns when all
    /// calls have returned.
    template <class Task>
    void run(std::uint32_t count, const Task& task) {
        run_erased(
            count,
            [](const void* t, std::uint32_t index, int thread) { (*static_cast<const Task*>(t))(index, thread); },
            &task);
    }

  private:
    using call = void (*)(const void*, std::uint32_t, int);

    void run_erased(std::uint32_t count, call function, const void* task);
    void work(int thread);
    bool take_tasks(int thread);

    // The word that hands out tasks: job number (16 bits), task count (24), next task (24). One fetch_add tells a
    // thread all three at once, so a late worker can never mistake the next job for the one it knew: an index below
    // the count means that the job is unfinished, hence that function_ and task_ are its own.
    std::atomic<std::uint64_t> tickets_{0};
    std::atomic<call> function_{nullptr};
    std::atomic<const void*> task_{nullptr};
    alignas(64) std::atomic<std::uint32_t> finished_{0};
    alignas(64) std::atomic<std::uint32_t> epoch_{0};
    std::atomic<std::uint32_t> sleepers_{0};
    std::atomic<bool> stop_{false};
    std::uint32_t job_ = 0;
    int thread_count_ = 1;
    std::unique_ptr<std::thread[]> workers_;
};

}  // namespace assay::trainer
