// How often one caller may ask: a token bucket for each, a bounded number of them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay::http {

/// Used from one thread.
class rate_limiter {
  public:
    /// `per_second` refills, `burst` at most saved up. More than `max_callers` at once share what the newcomers get.
    rate_limiter(double per_second, double burst, std::size_t max_callers = 10'000)
        : per_second_(per_second), burst_(burst), max_callers_(max_callers) {}

    /// Takes one request of `caller`; false when there is none left just now.
    bool take(std::string_view caller, std::chrono::steady_clock::time_point now);

  private:
    struct bucket {
        double left = 0;
        std::chrono::steady_clock::time_point filled;
    };
    void forget_full(std::chrono::steady_clock::time_point now);

    double per_second_, burst_;
    std::size_t max_callers_;
    std::unordered_map<std::string, bucket> buckets_;
};

}  // namespace assay::http
