// One measurement at a time on a machine: an advisory lock on a file of the home, held by the process that measures and
// given back by the system when that process dies.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "run/ports.hpp"
#include "run/run_executor.hpp"

namespace assay {

/// Holds the lock while it lives.
class measurement_lock {
  public:
    /// The lock, or none when another process holds it.
    static result<std::unique_ptr<measurement_lock>> try_acquire(const std::filesystem::path& file);
    ~measurement_lock();
    measurement_lock(const measurement_lock&) = delete;
    measurement_lock& operator=(const measurement_lock&) = delete;

  private:
    explicit measurement_lock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

/// Waits for the lock until `stop` is asked for (then: cancelled). `on_wait` is called once when it has to wait.
task<result<std::unique_ptr<measurement_lock>>> acquire_measurement_lock(std::filesystem::path file,
                                                                         std::shared_ptr<stop_signal> stop,
                                                                         std::function<void()> on_wait);

}  // namespace assay
