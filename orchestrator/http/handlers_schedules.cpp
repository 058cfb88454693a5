// /api/v1/schedules: what is measured when.
#include "contract/json_writer.hpp"
#include "http/handlers.hpp"
#include "http/problem.hpp"
#include "http/query.hpp"
#include "http/scheduler.hpp"

namespace assay::http {
namespace {

http_response unavailable_here() {
    return problem({error_code::not_found, "This server keeps no schedules"});
}

/// The stored form and when it is due next.
std::string schedule_api_document(const api_context& context, const schedule_document& schedule) {
    auto text = stored_schedule_text(schedule);
    if (const auto next = next_due_of(schedule, context.time->now())) {
        text.pop_back();
        text += ",\"next_due\":" + json_string(*next) + "}";
    }
    return text;
}

http_response answer(const api_context& context, const result<schedule_document>& schedule, int status = 200) {
    if (!schedule) return problem(schedule.error());
    http_response response;
    response.status = status;
    response.body = schedule_api_document(context, *schedule);
    if (status == 201) response.with("Location", "/api/v1/schedules/" + schedule->id);
    return response;
}

}  // namespace

http_response list_schedules(api_context& context, const http_request& request) {
    if (!context.schedules) return unavailable_here();
    if (const auto checked = check_query(request, {}); !checked) return problem(checked.error());
    const auto schedules = context.schedules->list();
    if (!schedules) return problem(schedules.error());
    json_array list;
    for (const auto& schedule : *schedules) list.raw(schedule_api_document(context, schedule));
    http_response response;
    response.body = json_object().raw("schedules", list.text()).text();
    return response;
}

http_response create_schedule(api_context& context, const http_request& request) {
    if (!context.schedules) return unavailable_here();
    auto schedule = parse_schedule(request.body);
    if (!schedule) return problem(schedule.error());
    return answer(context, context.schedules->add(std::move(*schedule)), 201);
}

http_response get_schedule(api_context& context, const http_request& request) {
    if (!context.schedules) return unavailable_here();
    return answer(context, context.schedules->find(request.capture("id")));
}

http_response delete_schedule(api_context& context, const http_request& request) {
    if (!context.schedules) return unavailable_here();
    if (const auto removed = context.schedules->remove(request.capture("id")); !removed)
        return problem(removed.error());
    http_response response;
    response.status = 204;
    return response;
}

http_response pause_schedule(api_context& context, const http_request& request) {
    if (!context.schedules) return unavailable_here();
    return answer(context, context.schedules->set_paused(request.capture("id"), true));
}

http_response resume_schedule(api_context& context, const http_request& request) {
    if (!context.schedules) return unavailable_here();
    return answer(context, context.schedules->set_paused(request.capture("id"), false));
}

http_response run_schedule(api_context& context, const http_request& request) {
    if (!context.schedules) return unavailable_here();
    const auto ids = context.schedules->run_now(request.capture("id"));
    if (!ids) return problem(ids.error());
    json_array runs;
    for (const auto& id : *ids) runs.add(id);
    http_response response;
    response.status = 202;
    response.body = json_object().raw("runs", runs.text()).text();
    return response;
}

}  // namespace assay::http
