#include <doctest/doctest.h>

#include "server_fixture.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

const std::string run = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

void add_run(server_fixture& fixture, run_state state) {
    run_row row;
    row.id = run;
    row.state = state;
    row.request_text = "{}";
    fixture.store.runs[run] = row;
}

http::http_server_options quick() {
    http::http_server_options options;
    options.limits.event_poll = 5ms;
    return options;
}

std::string open_stream(http_probe& probe, const std::string& headers = {}) {
    probe.send("GET /api/v1/runs/" + run + "/events HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return probe.read_through("\r\n\r\n");
}

}  // namespace

TEST_CASE("events arrive in order with ids, and the stream ends after done") {
    server_fixture fixture(quick());
    add_run(fixture, run_state::running);
    fixture.progress.publish({run, "state", R"({"phase":"launching"})"});
    http_probe probe(fixture.server->port());
    CHECK(open_stream(probe).find("Content-Type: text/event-stream") != std::string::npos);
    CHECK(probe.read_through("\n\n") == "retry: 2000\n\n");
    CHECK(probe.read_through("\n\n") == "id: epoch-1\nevent: state\ndata: {\"phase\":\"launching\"}\n\n");
    fixture.progress.publish({run, "steps", R"({"wall_ms":[1]})"});
    CHECK(probe.read_through("\n\n") == "id: epoch-2\nevent: steps\ndata: {\"wall_ms\":[1]}\n\n");
    fixture.progress.publish({run, "done", "{}"});
    CHECK(probe.read_through("\n\n") == "id: epoch-3\nevent: done\ndata: {}\n\n");
    CHECK(probe.closed_by_peer());
}

TEST_CASE("a reader goes on after the last event it saw") {
    server_fixture fixture(quick());
    add_run(fixture, run_state::running);
    for (int i = 1; i <= 3; ++i) fixture.progress.publish({run, "log", std::to_string(i)});
    http_probe probe(fixture.server->port());
    open_stream(probe, "Last-Event-ID: epoch-2\r\n");
    probe.read_through("\n\n");
    CHECK(probe.read_through("\n\n").starts_with("id: epoch-3\n"));
    http_probe stranger(fixture.server->port());
    open_stream(stranger, "Last-Event-ID: earlier-2\r\n");
    stranger.read_through("\n\n");
    CHECK(stranger.read_through("\n\n").starts_with("id: epoch-1\n"));
}

TEST_CASE("a reader that was overtaken is told how much it missed") {
    http::progress_ring ring("epoch", {.events_per_run = 4, .runs = 2});
    ring.publish({run, "log", "1"});
    const auto stream = ring.open(run, {});
    CHECK(stream->next(1000).bytes.starts_with("id: epoch-1"));
    for (int i = 2; i <= 10; ++i) ring.publish({run, "log", std::to_string(i)});
    const auto bytes = stream->next(10000).bytes;
    CHECK(bytes.starts_with("event: gap\ndata: {\"missed\":5}\n\nid: epoch-7\n"));
    CHECK(stream->next(1000).bytes.empty());
}

TEST_CASE("the ring keeps a bounded number of runs and bytes") {
    http::progress_ring ring("epoch", {.events_per_run = 4, .runs = 2, .event_bytes = 100});
    for (const std::string each : {"a", "b", "c"}) ring.publish({each, "log", "1"});
    CHECK_FALSE(ring.knows("a"));
    CHECK(ring.knows("c"));
    ring.publish({"c", "steps", std::string(1000, 'x')});
    CHECK(ring.open("c", {})->next(10000).bytes.size() < 400);
}

TEST_CASE("a run that was over before this process answers with its end") {
    server_fixture fixture(quick());
    add_run(fixture, run_state::done);
    http_probe probe(fixture.server->port());
    open_stream(probe);
    probe.read_through("\n\n");
    CHECK(probe.read_through("\n\n").starts_with("event: done\ndata: {\"id\":\"" + run));
    CHECK(probe.closed_by_peer());
}

TEST_CASE("a queued run that is cancelled ends its readers' streams") {
    server_fixture fixture(quick());
    add_run(fixture, run_state::queued);
    http_probe probe(fixture.server->port());
    open_stream(probe);
    probe.read_through("\n\n");
    CHECK(fixture.ask("DELETE", "/api/v1/runs/" + run).status == 200);
    CHECK(probe.read_through("\n\n").find("event: done") != std::string::npos);
    CHECK(probe.closed_by_peer());
}

TEST_CASE("a reader that never reads is cut and holds nothing back") {
    auto options = quick();
    options.limits.write = 300ms;
    server_fixture fixture(std::move(options));
    add_run(fixture, run_state::running);
    http_probe dead(fixture.server->port());
    open_stream(dead);
    const std::string large(60000, 'x');
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 300; ++i) fixture.progress.publish({run, "log", large});
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (fixture.server->open_connections() > 0 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(10ms);
    CHECK(fixture.server->open_connections() == 0);
}
