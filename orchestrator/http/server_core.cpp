#include "http/server_core.hpp"

#include "http/problem.hpp"

namespace assay::http {

server_core::server_core(http_server_options the_options, api_context the_api, work_executor* work)
    : options(std::move(the_options)),
      api(std::move(the_api)),
      store_work(work),
      routes(api.store ? api_endpoints() : api_endpoints().first(1), options.endpoints),
      hosts(options.listen_address, options.allowed_hosts),
      tokens(options.access.tokens, options.access.anonymous_read),
      limiter(options.access.requests_per_second, options.access.request_burst) {
    api.metrics = &metrics;
    api.connections = [this] { return open_connections.load(std::memory_order_relaxed); };
}

server_core::decision server_core::decide(http_request& request) {
    const auto refuse = [](int status, error cause) { return decision{problem(status, cause), {}}; };
    const auto host = request.header("host");
    if (!host) return refuse(400, {error_code::invalid_argument, "The Host header is missing"});
    if (!hosts.allows_host(*host))
        return refuse(
            421, {error_code::forbidden, "This server does not answer to the name '" + std::string(*host) + "'", "Host",
                  "Use the address it listens on, or add the name to allowed_hosts."});
    const bool changes = request.method != "GET" && request.method != "HEAD" && request.method != "OPTIONS";
    if (changes && !hosts.allows_origin(request.header("origin").value_or(""), *host))
        return refuse(403, {error_code::forbidden, "A page of another site may not ask for this", "Origin"});
    auto found = routes.find(request.method, request.path);
    if (std::holds_alternative<route_missing>(found))
        return refuse(404, {error_code::not_found, "There is nothing at " + request.path});
    if (auto* missing = std::get_if<method_missing>(&found)) {
        if (request.method == "OPTIONS") {
            http_response answer;
            answer.status = 204;
            answer.with("Allow", missing->allow);
            return {std::move(answer), {}};
        }
        auto answer =
            problem(405, {error_code::invalid_argument, request.method + " is not possible at " + request.path});
        answer.with("Allow", missing->allow);
        return {std::move(answer), {}};
    }
    auto target = std::get<route>(std::move(found));
    request.captures = target.captures;
    auto subject = tokens.check(request.header("authorization"), target.scope());
    if (!subject) return decision{problem(subject.error()), {}};
    request.subject = std::move(*subject);
    if (target.scope() != token_scope::none &&
        !limiter.take(request.subject.empty() ? request.peer : request.subject, coarse_now))
        return refuse(429, {error_code::unavailable, "Too many requests; ask again in a moment"});
    // A form of another site cannot send application/json without the browser asking first. Tools that are no browser
    // send no Origin, and may leave the type as it comes.
    const bool from_page = request.header("origin").has_value();
    const auto type = request.header("content-type").value_or("");
    if (from_page && !request.body.empty() && target.built_in && !type.starts_with("application/json"))
        return refuse(415, {error_code::invalid_argument, "The body must be application/json", "Content-Type"});
    return {{}, std::move(target)};
}

std::size_t server_core::body_limit(std::string_view method, std::string_view path) const {
    const auto found = routes.find(method, path);
    if (const auto* target = std::get_if<route>(&found))
        if (target->added && target->added->body_limit > 0) return target->added->body_limit;
    return options.limits.body_bytes;
}

}  // namespace assay::http
