#include "http/api.hpp"

#include <array>
#include <filesystem>

#include "http/handlers.hpp"
#include "http/router.hpp"
#include "receipt/atomic_file.hpp"

namespace assay::http {
namespace {

constexpr std::size_t max_policy_bytes = 1 << 20;

using enum token_scope;
using enum runs_on;

constexpr std::array endpoints{
    api_endpoint{"GET", "/healthz", none, server_thread, get_health},
    api_endpoint{"POST", "/api/v1/runs", trigger, store_thread, create_run},
    api_endpoint{"GET", "/api/v1/runs", read, store_thread, list_runs},
    api_endpoint{"GET", "/api/v1/runs/{id}", read, store_thread, get_run},
    api_endpoint{"DELETE", "/api/v1/runs/{id}", trigger, store_thread, cancel_run},
    api_endpoint{"GET", "/api/v1/runs/{id}/receipt", read, store_thread, get_run_receipt},
    api_endpoint{"GET", "/api/v1/runs/{id}/events", read, store_thread, get_run_events},
    api_endpoint{"GET", "/api/v1/receipts", read, store_thread, list_receipts},
    api_endpoint{"GET", "/api/v1/receipts/{id}", read, store_thread, get_receipt},
    api_endpoint{"GET", "/api/v1/presets", read, server_thread, list_presets},
    api_endpoint{"GET", "/api/v1/policies", read, server_thread, list_policies},
    api_endpoint{"GET", "/api/v1/policies/{name}", read, server_thread, get_policy},
    api_endpoint{"GET", "/api/v1/machines", read, store_thread, list_machines},
    api_endpoint{"GET", "/api/v1/curve", read, store_thread, get_curve},
    api_endpoint{"GET", "/api/v1/trends", read, store_thread, get_trends},
    api_endpoint{"GET", "/api/v1/compare", read, store_thread, get_comparison},
    api_endpoint{"GET", "/api/v1/schedules", read, store_thread, list_schedules},
    api_endpoint{"POST", "/api/v1/schedules", admin, store_thread, create_schedule},
    api_endpoint{"GET", "/api/v1/schedules/{id}", read, store_thread, get_schedule},
    api_endpoint{"DELETE", "/api/v1/schedules/{id}", admin, store_thread, delete_schedule},
    api_endpoint{"POST", "/api/v1/schedules/{id}/pause", trigger, store_thread, pause_schedule},
    api_endpoint{"POST", "/api/v1/schedules/{id}/resume", trigger, store_thread, resume_schedule},
    api_endpoint{"POST", "/api/v1/schedules/{id}/run", trigger, store_thread, run_schedule},
    api_endpoint{"GET", "/api/v1/undelivered", admin, store_thread, list_undelivered},
    api_endpoint{"GET", "/readyz", none, store_thread, get_readiness},
    api_endpoint{"GET", "/metrics", read, store_thread, get_metrics},
};

}  // namespace

result<std::map<std::string, std::string, std::less<>>> load_policy_texts(const std::string& folder) {
    std::map<std::string, std::string, std::less<>> policies;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
        if (entry.path().extension() != ".json") continue;
        auto text = read_whole_file(entry.path(), max_policy_bytes);
        if (!text) return text.error();
        policies[entry.path().stem().string()] = std::move(*text);
    }
    if (failed)
        return error{error_code::io_error, "Cannot read the policies' folder " + folder + ": " + failed.message()};
    return policies;
}

std::span<const api_endpoint> api_endpoints() {
    return endpoints;
}

}  // namespace assay::http
