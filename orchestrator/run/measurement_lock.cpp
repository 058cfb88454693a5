#include "run/measurement_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/with_deadline.hpp"

namespace assay {
namespace {

constexpr auto poll_interval = std::chrono::milliseconds(200);

}  // namespace

result<std::unique_ptr<measurement_lock>> measurement_lock::try_acquire(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return error{error_code::io_error,
                     "The lock file " + file.string() + " cannot be opened: " + std::strerror(errno)};
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return std::unique_ptr<measurement_lock>(new measurement_lock(descriptor));
    const int failure = errno;
    ::close(descriptor);
    if (failure == EWOULDBLOCK) return std::unique_ptr<measurement_lock>();
    return error{error_code::io_error, "The lock file " + file.string() + " cannot be locked: " + std::strerror(failure)};
}

measurement_lock::~measurement_lock() { ::close(descriptor_); }

task<result<std::unique_ptr<measurement_lock>>> acquire_measurement_lock(std::filesystem::path file,
                                                                         std::shared_ptr<stop_signal> stop,
                                                                         std::function<void()> on_wait) {
    for (bool waited = false;; waited = true) {
        if (stop->asked())
            co_return error{error_code::cancelled, "Stopped while waiting for another measurement to end"};
        auto lock = measurement_lock::try_acquire(file);
        if (!lock || *lock) co_return lock;
        if (!waited && on_wait) on_wait();
        co_await sleep_for(poll_interval);
    }
}

}  // namespace assay
