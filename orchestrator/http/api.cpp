#include "http/api.hpp"

#include <array>

#include "http/handlers.hpp"
#include "http/router.hpp"

namespace assay::http {
namespace {

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
};

}  // namespace

std::span<const api_endpoint> api_endpoints() {
    return endpoints;
}

}  // namespace assay::http
