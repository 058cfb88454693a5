// Endpoints for whoever operates the service.
#include "contract/json_writer.hpp"
#include "http/handlers.hpp"

namespace assay::http {

http_response get_health(api_context& context, const http_request&) {
    http_response response;
    response.body = json_object().add("status", "ok").add("version", context.version).text();
    response.with("Cache-Control", "no-store");
    return response;
}

}  // namespace assay::http
