// Counts and times of requests in the text format of Prometheus (exposition format 0.0.4).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace assay::http {

/// Safe from any thread.
class server_metrics {
  public:
    /// One answered request. `pattern` is the endpoint's, never the raw path, so that callers cannot make series.
    void count_request(std::string_view method, std::string_view pattern, int status, double seconds);
    void count_static();
    void count_refused();

    /// Lines for /metrics, with `connections` as they are now.
    std::string text(std::size_t connections) const;

  private:
    static constexpr std::array<double, 7> bounds{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10};
    struct series {
        std::map<int, std::uint64_t> by_status_class;
        std::array<std::uint64_t, bounds.size()> within{};
        std::uint64_t count = 0;
        double seconds = 0;
    };
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, series> series_;  ///< by pattern and method
    std::uint64_t static_files_ = 0;
    std::uint64_t refused_ = 0;
};

/// Resident bytes and open descriptors of this process; zeros where the system does not say.
struct process_usage {
    std::uint64_t resident_bytes = 0;
    std::uint64_t open_descriptors = 0;
    double cpu_seconds = 0;
};
process_usage read_process_usage();

}  // namespace assay::http
