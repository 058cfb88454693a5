#include "http/server_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "contract/json_writer.hpp"

namespace assay::http {

void server_metrics::count_request(std::string_view method, std::string_view pattern, int status, double seconds) {
    const std::lock_guard lock(mutex_);
    auto& entry = series_[{std::string(pattern), std::string(method)}];
    ++entry.by_status_class[status / 100];
    ++entry.count;
    entry.seconds += seconds;
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (seconds <= bounds[i]) ++entry.within[i];
}

void server_metrics::count_static() {
    const std::lock_guard lock(mutex_);
    ++static_files_;
}

void server_metrics::count_refused() {
    const std::lock_guard lock(mutex_);
    ++refused_;
}

std::string server_metrics::text(std::size_t connections) const {
    const std::lock_guard lock(mutex_);
    std::string out;
    const auto line = [&](const std::string& name, const std::string& labels, const std::string& value) {
        out += name + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
    };
    const auto head = [&](const std::string& name, const std::string& type, const std::string& help) {
        out += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
    };
    head("assay_http_requests_total", "counter", "Requests answered by endpoint, method and class of status.");
    for (const auto& [key, entry] : series_)
        for (const auto& [status_class, count] : entry.by_status_class)
            line("assay_http_requests_total",
                 "endpoint=\"" + key.first + "\",method=\"" + key.second + "\",status=\"" +
                     std::to_string(status_class) + "xx\"",
                 std::to_string(count));
    head("assay_http_request_seconds", "histogram", "Time from the whole request to the answer's last byte handed on.");
    for (const auto& [key, entry] : series_) {
        const std::string labels = "endpoint=\"" + key.first + "\",method=\"" + key.second + "\"";
        for (std::size_t i = 0; i < bounds.size(); ++i)
            line("assay_http_request_seconds_bucket", labels + ",le=\"" + json_number(bounds[i]) + "\"",
                 std::to_string(entry.within[i]));
        line("assay_http_request_seconds_bucket", labels + ",le=\"+Inf\"", std::to_string(entry.count));
        line("assay_http_request_seconds_sum", labels, json_number(entry.seconds));
        line("assay_http_request_seconds_count", labels, std::to_string(entry.count));
    }
    head("assay_http_static_files_total", "counter", "Served files answered.");
    line("assay_http_static_files_total", "", std::to_string(static_files_));
    head("assay_http_refused_total", "counter",
         "Requests refused before any endpoint: malformed, too large, too many, wrong name.");
    line("assay_http_refused_total", "", std::to_string(refused_));
    head("assay_http_connections", "gauge", "Open connections.");
    line("assay_http_connections", "", std::to_string(connections));
    const auto usage = read_process_usage();
    head("process_resident_memory_bytes", "gauge", "Resident memory.");
    line("process_resident_memory_bytes", "", std::to_string(usage.resident_bytes));
    head("process_open_fds", "gauge", "Open file descriptors.");
    line("process_open_fds", "", std::to_string(usage.open_descriptors));
    head("process_cpu_seconds_total", "counter", "User and system time.");
    line("process_cpu_seconds_total", "", json_number(usage.cpu_seconds));
    return out;
}

process_usage read_process_usage() {
    process_usage usage;
    std::uint64_t pages = 0, resident_pages = 0;
    if (std::ifstream statm("/proc/self/statm"); statm >> pages >> resident_pages)
        usage.resident_bytes = resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::error_code failed;
    const std::filesystem::directory_iterator descriptors("/proc/self/fd", failed);
    if (!failed)
        usage.open_descriptors = static_cast<std::uint64_t>(std::distance(begin(descriptors), end(descriptors)));
    rusage times{};
    if (::getrusage(RUSAGE_SELF, &times) == 0) {
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        usage.cpu_seconds = seconds(times.ru_utime) + seconds(times.ru_stime);
    }
    return usage;
}

}  // namespace assay::http
