#include "thread_pool.hpp"

#include <algorithm>
#include <cassert>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::trainer {
namespace {

/// Reads of the epoch before a worker sleeps: some tens of microseconds, longer than the serial code between two jobs
/// of a step, shorter than anyone would notice after the last one. A read costs a nanosecond or two on WebAssembly,
/// which has no pause instruction, and ten times that with one.
#if defined(__wasm__)
constexpr int spins_before_sleep = 40000;
#else
constexpr int spins_before_sleep = 4000;
#endif

void relax() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

// libc++'s atomic wait polls with growing pauses on WebAssembly; the engine's own wait is immediate.
void sleep_while([[maybe_unused]] std::atomic<std::uint32_t>& word, [[maybe_unused]] std::uint32_t value) {
#if defined(__wasm__)
#if defined(__wasm_atomics__)
    __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(value), -1);
#endif
#else
    word.wait(value);
#endif
}

void wake_all([[maybe_unused]] std::atomic<std::uint32_t>& word) {
#if defined(__wasm__)
#if defined(__wasm_atomics__)
    __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), 0x7fffffff);
#endif
#else
    word.notify_all();
#endif
}

constexpr std::uint64_t low24 = (1u << 24) - 1;

}  // namespace

thread_pool::thread_pool(int threads) : thread_count_(threads) {
    assert(threads >= 1 && threads <= max_threads);
    if (threads == 1) return;
    workers_ = std::make_unique<std::thread[]>(static_cast<std::size_t>(threads - 1));
    for (int i = 0; i < threads - 1; ++i) workers_[i] = std::thread([this, i] { work(i + 1); });
}

thread_pool::~thread_pool() {
    if (thread_count_ == 1) return;
    stop_.store(true);
    epoch_.fetch_add(1);
    wake_all(epoch_);
    for (int i = 0; i < thread_count_ - 1; ++i) workers_[i].join();
}

bool thread_pool::take_tasks(int thread) {
    std::uint32_t done = 0;
    for (;;) {
        const std::uint64_t ticket = tickets_.fetch_add(1, std::memory_order_acq_rel);
        const std::uint32_t index = ticket & low24;
        const std::uint32_t count = (ticket >> 24) & low24;
        if (index >= count) break;
        function_.load(std::memory_order_relaxed)(task_.load(std::memory_order_relaxed), index, thread);
        ++done;
    }
    if (done > 0) finished_.fetch_add(done, std::memory_order_acq_rel);
    return done > 0;
}

void thread_pool::run_erased(std::uint32_t count, call function, const void* task) {
    assert(count <= max_tasks);
    if (thread_count_ == 1 || count <= 1) {
        for (std::uint32_t i = 0; i < count; ++i) function(task, i, 0);
        return;
    }
    function_.store(function, std::memory_order_relaxed);
    task_.store(task, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    ++job_;
    tickets_.store(std::uint64_t{job_ & 0xffff} << 48 | std::uint64_t{count} << 24, std::memory_order_release);
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) wake_all(epoch_);
    take_tasks(0);
    // The tail of a job is one task per thread at most; sleeping here would cost more than it saves, unless the
    // machine has taken a worker's core away, and then yielding gives it ours.
    int spins = 0;
    while (finished_.load(std::memory_order_acquire) != count) {
        if (++spins < 20000) {
            relax();
        } else {
            std::this_thread::yield();
        }
    }
}

void thread_pool::work(int thread) {
    std::uint32_t seen = 0;
    while (!stop_.load(std::memory_order_acquire)) {
        int spins = 0;
        std::uint32_t epoch;
        while ((epoch = epoch_.load(std::memory_order_acquire)) == seen) {
            if (++spins < spins_before_sleep) {
                relax();
                continue;
            }
            sleepers_.fetch_add(1, std::memory_order_seq_cst);
            sleep_while(epoch_, seen);
            sleepers_.fetch_sub(1, std::memory_order_seq_cst);
        }
        seen = epoch;
        take_tasks(thread);
    }
}

}  // namespace assay::trainer
