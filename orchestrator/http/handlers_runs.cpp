// /api/v1/runs: ask for a run, watch it, cancel it.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include "contract/json_writer.hpp"
#include "contract/run_request.hpp"
#include "http/documents.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"

namespace assay::http {
namespace {

constexpr std::size_t max_key_bytes = 200;

/// The id in the path, if it could be one.
result<run_id> run_id_of(const http_request& request) {
    const auto text = request.capture("id");
    if (!is_sortable_id(text)) return error{error_code::not_found, "There is no run '" + std::string(text) + "'"};
    return run_id(std::string(text));
}

result<std::optional<std::string>> idempotency_key_of(const http_request& request) {
    const auto key = request.header("idempotency-key");
    if (!key) return std::optional<std::string>();
    const bool printable = std::all_of(key->begin(), key->end(), [](char byte) { return byte >= 0x20 && byte < 0x7F; });
    if (key->empty() || key->size() > max_key_bytes || !printable)
        return error{error_code::invalid_argument, "The Idempotency-Key must have 1 to 200 printable characters",
                     "Idempotency-Key"};
    return std::optional<std::string>(std::string(*key));
}

/// 32 hexadecimal digits that nobody can know beforehand.
std::string make_nonce(random_source& random) {
    std::array<char, 33> text{};
    std::snprintf(text.data(), text.size(), "%016" PRIx64 "%016" PRIx64, random.next_u64(), random.next_u64());
    return text.data();
}

std::optional<run_state> state_of_name(std::string_view name) {
    for (const auto state : {run_state::queued, run_state::running, run_state::done, run_state::failed,
                             run_state::cancelled, run_state::interrupted})
        if (run_state_name(state) == name) return state;
    return std::nullopt;
}

bool is_over(run_state state) {
    return state != run_state::queued && state != run_state::running;
}

}  // namespace

http_response create_run(api_context& context, const http_request& request) {
    const auto key = idempotency_key_of(request);
    if (!key) return problem(key.error());
    auto asked = parse_run_request(request.body);
    if (!asked) return problem(asked.error());
    run_row row;
    row.id = make_sortable_id(*context.time, *context.random);
    // A repeated question (same key, same request) must stay the same one; any other gets a nonce of its own.
    if (!asked->nonce && !*key) asked->nonce = make_nonce(*context.random);
    row.request_text = run_request_text(*asked);
    row.label = asked->label;
    row.created_at = format_utc(context.time->now());
    row.idempotency_key = *key;
    const auto stored = context.store->enqueue(row);
    if (!stored) return problem(stored.error());
    if (stored->id == row.id && context.runs) context.runs->run_queued(run_id(stored->id));
    http_response response;
    response.status = 202;
    response.body = json_object().add("id", stored->id).add("state", run_state_name(stored->state)).text();
    response.with("Location", "/api/v1/runs/" + stored->id);
    return response;
}

http_response list_runs(api_context& context, const http_request& request) {
    if (const auto checked = check_query(request, {"state", "label", "cursor", "limit"}); !checked)
        return problem(checked.error());
    run_filter filter;
    if (const auto name = query_text(request, "state")) {
        filter.state = state_of_name(*name);
        if (!filter.state)
            return problem({error_code::invalid_argument, "There is no state '" + *name + "'", "?state",
                            "Known: queued, running, done, failed, cancelled, interrupted"});
    }
    filter.label = query_text(request, "label");
    filter.cursor = query_text(request, "cursor");
    const auto limit = query_integer(request, "limit", 1, 500, 50);
    if (!limit) return problem(limit.error());
    filter.limit = *limit;
    const auto page = context.store->list_runs(filter);
    if (!page) return problem(page.error());
    http_response response;
    response.body = run_list_document(*page);
    return response;
}

http_response get_run(api_context& context, const http_request& request) {
    const auto id = run_id_of(request);
    if (!id) return problem(id.error());
    const auto run = context.store->find_run(*id);
    if (!run) return problem(run.error());
    http_response response;
    response.body = run_document(*run);
    return response;
}

http_response cancel_run(api_context& context, const http_request& request) {
    const auto id = run_id_of(request);
    if (!id) return problem(id.error());
    const auto run = context.store->request_cancel(*id);
    if (!run) return problem(run.error());
    if (context.runs) context.runs->cancel_requested(*id);
    // A queued run ends here and no executor will say so; a running one ends by its executor's own event.
    if (run->state == run_state::cancelled && !run->started_at && context.progress->is_open(run->id))
        context.progress->publish({run->id, "done", run_document(*run)});
    http_response response;
    response.status = is_over(run->state) ? 200 : 202;
    response.body = run_document(*run);
    return response;
}

http_response get_run_receipt(api_context& context, const http_request& request) {
    const auto id = run_id_of(request);
    if (!id) return problem(id.error());
    const auto run = context.store->find_run(*id);
    if (!run) return problem(run.error());
    if (!run->receipt_id)
        return problem({error_code::not_found, "The run is " + std::string(run_state_name(run->state)) +
                                                   " and has no receipt" + (is_over(run->state) ? "" : " yet")});
    http_request inner = request;
    inner.captures = {{"id", *run->receipt_id}};
    return get_receipt(context, inner);
}

http_response get_run_events(api_context& context, const http_request& request) {
    const auto id = run_id_of(request);
    if (!id) return problem(id.error());
    const auto run = context.store->find_run(*id);
    if (!run) return problem(run.error());
    http_response response;
    response.content_type = "text/event-stream";
    if (is_over(run->state) && !context.progress->knows(run->id))
        response.stream = single_frame_stream(event_frame({}, "done", run_document(*run)));
    else
        response.stream = context.progress->open(run->id, request.header("last-event-id"));
    return response;
}

}  // namespace assay::http
