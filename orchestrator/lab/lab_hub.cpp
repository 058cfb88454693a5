// The hub's thread: waiting machines, work for them, lost ones.
#include "lab/lab_hub.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "lab/hub_answers.hpp"
#include "run/run_log.hpp"

namespace assay::lab {
namespace {

constexpr auto keep_upload_parts = std::chrono::hours(24 * 7);

lease_grant grant_of(const run_row& row, std::chrono::seconds lease) {
    lease_grant grant;
    grant.run = row.id;
    grant.request_text = row.request_text;
    grant.label = row.label;
    grant.fencing_token = row.fencing_token;
    grant.lease_seconds = static_cast<int>(lease.count());
    grant.attempt = row.attempt;
    grant.created_at = row.created_at;
    return grant;
}

}  // namespace

lab_hub::lab_hub(hub_services services) : services_(services), thread_([this] { serve_waiting(); }) {}

lab_hub::~lab_hub() {
    {
        const std::lock_guard held(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void lab_hub::wake() {
    const std::lock_guard held(mutex_);
    news_ = true;
    changed_.notify_all();
}

std::size_t lab_hub::waiting() const {
    const std::lock_guard held(mutex_);
    return waiting_.size();
}

void lab_hub::ask_for_work(http_request request, respond_function respond) {
    const auto wish = parse_lease_request(request.body);
    if (!wish) return respond(problem_answer(wish.error()));
    const std::lock_guard held(mutex_);
    if (stopping_) return respond(json_answer(204, {}));
    // A machine has one slot: when it asks again, its earlier request has lost its reader.
    const auto earlier = std::find_if(waiting_.begin(), waiting_.end(),
                                      [&](const auto& each) { return each.machine == wish->machine_id; });
    if (earlier != waiting_.end()) {
        earlier->respond(json_answer(204, {}));
        waiting_.erase(earlier);
    }
    if (waiting_.size() >= max_waiting_machines)
        return respond(problem_answer({error_code::queue_full, "too many machines wait for work"}));
    waiting_.push_back({wish->machine_id, std::chrono::steady_clock::now() + std::chrono::milliseconds(wish->wait_ms),
                        std::move(respond), false});
    news_ = true;
    changed_.notify_all();
}

void lab_hub::serve_waiting() {
    // A hub that was away gives its machines one lease's time to be heard again before it calls any of them lost.
    auto next_reap = std::chrono::steady_clock::now() + services_.lease;
    std::unique_lock held(mutex_);
    while (!stopping_) {
        changed_.wait_for(held, waiting_.empty() ? services_.reap_every : services_.look,
                          [this] { return news_ || stopping_; });
        news_ = false;
        auto requests = std::move(waiting_);
        waiting_.clear();
        held.unlock();
        try {
            next_reap = reap_when_due(next_reap);
            give_work(requests);
        } catch (const std::exception& failure) {
            spdlog::error("the hub could not look for work: {}", failure.what());
        }
        held.lock();
        // What still waits goes back, unless its machine has asked anew meanwhile.
        for (auto& request : requests) {
            const bool renewed = std::any_of(waiting_.begin(), waiting_.end(),
                                             [&](const auto& each) { return each.machine == request.machine; });
            if (renewed)
                request.respond(json_answer(204, {}));
            else
                waiting_.push_back(std::move(request));
        }
    }
    for (auto& request : waiting_) request.respond(json_answer(204, {}));
    waiting_.clear();
}

void lab_hub::give_work(std::deque<waiting_request>& requests) {
    std::deque<waiting_request> left;
    // While nothing is queued, a machine that has been looked at once needs no second look: that is one query for all
    // of them in place of several for each.
    const auto queued = services_.runs->list_runs({.state = run_state::queued, .label = {}, .cursor = {}, .limit = 1});
    const bool any_queued = !queued || !queued->runs.empty();
    while (!requests.empty()) {
        auto request = std::move(requests.front());
        requests.pop_front();
        const auto work = any_queued || !request.looked ? find_work(request.machine)
                                                        : result<std::optional<run_row>>(std::optional<run_row>());
        request.looked = true;
        if (!work)
            request.respond(problem_answer(work.error()));
        else if (*work)
            request.respond(json_answer(200, lease_grant_text(grant_of(**work, services_.lease))));
        else if (std::chrono::steady_clock::now() >= request.until)
            request.respond(json_answer(204, {}));
        else
            left.push_back(std::move(request));
    }
    requests = std::move(left);
}

result<std::optional<run_row>> lab_hub::find_work(const std::string& machine) {
    const machine_id id(machine);
    const auto known = services_.machines->see_machine(id);
    if (!known) return known.error();
    // An idle machine asks; if a run is its own already, the answer that gave it was lost on its way. It is given
    // again.
    const auto lost = services_.runs->running_on(id);
    if (!lost) return lost.error();
    for (const auto& row : *lost)
        if (services_.runs->heartbeat(run_id(row.id), row.fencing_token, services_.lease)) return std::optional(row);
    if (known->state != machine_state::active) return std::optional<run_row>();
    return services_.runs->claim(id, known->labels, services_.lease);
}

std::chrono::steady_clock::time_point lab_hub::reap_when_due(std::chrono::steady_clock::time_point due) {
    const auto now = std::chrono::steady_clock::now();
    if (clock_watch_.jumped(*services_.time)) {
        // Heartbeats set every live lease right within that time; until then none can be called lost.
        spdlog::warn("the clock was set: no machine is called lost for {} s", services_.lease.count());
        return now + services_.lease;
    }
    if (now < due) return due;
    reap();
    return now + services_.reap_every;
}

void lab_hub::reap() {
    const auto reaped =
        services_.machines->reap_expired([this] { return make_sortable_id(*services_.time, *services_.random); });
    if (!reaped) {
        spdlog::warn("lost machines could not be looked for: {}", reaped.error().text());
        return;
    }
    for (const auto& row : *reaped)
        log_of_run(row.id)->warn("attempt {} ended as interrupted, its machine {} was not heard of any more",
                                 row.attempt, row.machine_id.value_or(""));
    if (auto dropped = services_.machines->drop_old_uploads(keep_upload_parts); !dropped)
        spdlog::warn("old uploads could not be dropped: {}", dropped.error().text());
}

}  // namespace assay::lab
