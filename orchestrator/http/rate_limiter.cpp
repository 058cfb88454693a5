#include "http/rate_limiter.hpp"

#include <algorithm>

namespace assay::http {

void rate_limiter::forget_full(std::chrono::steady_clock::time_point now) {
    std::erase_if(buckets_, [&](const auto& entry) {
        const std::chrono::duration<double> since = now - entry.second.filled;
        return entry.second.left + since.count() * per_second_ >= burst_;
    });
}

bool rate_limiter::take(std::string_view caller, std::chrono::steady_clock::time_point now) {
    std::string key(caller);
    auto found = buckets_.find(key);
    if (found == buckets_.end()) {
        if (buckets_.size() >= max_callers_) forget_full(now);
        // Still full: an attack from many addresses. They share one bucket, and known callers keep theirs.
        if (buckets_.size() >= max_callers_) key.clear();
        found = buckets_.try_emplace(key, bucket{burst_, now}).first;
    }
    auto& bucket = found->second;
    const std::chrono::duration<double> since = now - bucket.filled;
    bucket.left = std::min(burst_, bucket.left + since.count() * per_second_);
    bucket.filled = now;
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
}

}  // namespace assay::http
