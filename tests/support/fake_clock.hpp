// A clock that moves only when a test says so.
#pragma once

#include "core/clock.hpp"

namespace assay::test {

class fake_clock final : public clock {
  public:
    explicit fake_clock(utc_time start = utc_time(std::chrono::seconds(1796000000))) : now_(start) {}
    utc_time now() const override { return now_; }
    std::chrono::steady_clock::time_point steady_now() const override { return steady_; }
    void advance(std::chrono::nanoseconds by) {
        now_ += std::chrono::duration_cast<utc_time::duration>(by);
        steady_ += std::chrono::duration_cast<std::chrono::steady_clock::duration>(by);
    }
    /// As though someone set the wall clock; the steady one goes on.
    void set_wall(utc_time to) { now_ = to; }

  private:
    utc_time now_;
    std::chrono::steady_clock::time_point steady_{};
};

}  // namespace assay::test
