#include <doctest/doctest.h>

#include <future>

#include "http/scheduler.hpp"
#include "schedule/due_time.hpp"
#include "server_fixture.hpp"
#include "support/fake_clock.hpp"
#include "support/memory_documents.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view nightly =
    R"({"name":"nightly","cron":"30 2 * * *","time_zone":"Europe/Berlin","labels":["gpu"],)"
    R"("request":{"steps":5,"policy":"any"},)"
    R"("matrix":{"presets":["smoke","tiny"],"arms":[["wasm-simd","webgpu"]]}})";

struct keeper_fixture {
    fake_clock time{utc_time(std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 12h)};
    seeded_random random{3};
    memory_run_store store;
    memory_documents documents;
    noted_runs runs;
    http::schedule_keeper keeper{documents, store, &runs, time, random};

    int tick() { return keeper.tick().value(); }
};

}  // namespace

TEST_CASE("a schedule queues every run of its matrix when it is due, once") {
    keeper_fixture fixture;
    const auto added = fixture.keeper.add(parse_schedule(nightly).value()).value();
    CHECK(fixture.tick() == 0);
    fixture.time.advance(13h + 29min);
    CHECK(fixture.tick() == 0);
    fixture.time.advance(1min);
    CHECK(fixture.tick() == 2);
    CHECK(fixture.tick() == 0);
    CHECK(fixture.runs.queued.size() == 2);
    for (const auto& [id, row] : fixture.store.runs) {
        CHECK(row.schedule_id == added.id);
        CHECK(row.required_labels == std::vector<std::string>{"gpu"});
    }
    CHECK(fixture.keeper.find(added.id)->last_due == "2026-12-01T01:30:00.000Z");
}

TEST_CASE("after a long stop one run is made up for and the others are counted") {
    keeper_fixture fixture;
    const auto added = fixture.keeper.add(parse_schedule(nightly).value()).value();
    fixture.time.advance(10 * 24h);
    CHECK(fixture.tick() == 2);
    CHECK(fixture.tick() == 0);
    const auto kept = fixture.keeper.find(added.id).value();
    CHECK(kept.last_due == "2026-12-10T01:30:00.000Z");
    CHECK(kept.missed == 9);
    fixture.time.advance(24h);
    CHECK(fixture.tick() == 2);
}

TEST_CASE("a minutely schedule after a year's stop fires its newest time only") {
    const auto cron = cron_expression::parse("* * * * *").value();
    const std::chrono::sys_seconds now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 12h + 30s;
    const auto decision = decide_due(cron, time_zone(), now - 365 * 24h, now);
    CHECK(decision.fire == now - 30s);
    CHECK(decision.missed == max_missed_counted);
}

TEST_CASE("two services over one store fire a due time once") {
    keeper_fixture fixture;
    fixture.keeper.add(parse_schedule(nightly).value()).value();
    memory_documents stale = fixture.documents;
    http::schedule_keeper second(stale, fixture.store, nullptr, fixture.time, fixture.random);
    fixture.time.advance(14h);
    CHECK(fixture.tick() == 2);
    CHECK(second.tick().value() == 2);
    CHECK(fixture.store.runs.size() == 2);
}

TEST_CASE("a paused schedule fires nothing, and what came due meanwhile is not made up for") {
    keeper_fixture fixture;
    const auto id = fixture.keeper.add(parse_schedule(nightly).value()).value().id;
    fixture.keeper.set_paused(id, true).value();
    fixture.time.advance(48h);
    CHECK(fixture.tick() == 0);
    CHECK_FALSE(http::next_due_of(fixture.keeper.find(id).value(), fixture.time.now()));
    fixture.keeper.set_paused(id, false).value();
    CHECK(fixture.tick() == 0);
    fixture.time.advance(24h);
    CHECK(fixture.tick() == 2);
}

TEST_CASE("run-now queues at once and leaves the next due time alone") {
    keeper_fixture fixture;
    const auto id = fixture.keeper.add(parse_schedule(nightly).value()).value().id;
    CHECK(fixture.keeper.run_now(id)->size() == 2);
    CHECK(fixture.keeper.run_now(id)->size() == 2);
    CHECK(fixture.store.runs.size() == 4);
    fixture.time.advance(14h);
    CHECK(fixture.tick() == 2);
}

TEST_CASE("a schedule survives being written and read") {
    auto schedule = parse_schedule(nightly).value();
    schedule.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    schedule.created_at = schedule.checked_until = "2026-11-30T12:00:00.000Z";
    schedule.missed = 3;
    const auto again = parse_stored_schedule(stored_schedule_text(schedule)).value();
    CHECK(again.requests == schedule.requests);
    CHECK(again.labels == schedule.labels);
    CHECK(again.missed == 3);
    CHECK(stored_schedule_text(again) == stored_schedule_text(schedule));
}

TEST_CASE("a wrong schedule is pointed at") {
    const auto pointer = [](std::string_view text) { return parse_schedule(text).error().field; };
    CHECK(pointer(R"({"cron":"* * * * *","request":{}})") == "/name");
    CHECK(pointer(R"({"name":"n","cron":"* * * * *","request":{"preset":"smoke","steps":0}})") == "/request/steps");
    CHECK(pointer(R"({"name":"n","cron":"* * * * *","request":{},"matrix":{}})") == "/matrix");
    CHECK(pointer(R"({"name":"n","cron":"* * * * *","request":{"preset":"smoke"},"id":"x"})") == "/id");
    keeper_fixture fixture;
    auto schedule = parse_schedule(nightly).value();
    schedule.cron = "61 * * * *";
    CHECK(fixture.keeper.add(schedule).error().field == "/cron");
    schedule.cron = "0 * * * *";
    schedule.time_zone = "../../etc/passwd";
    CHECK(fixture.keeper.add(schedule).error().field == "/time_zone");
}

TEST_CASE("the loop ticks on the store's thread and ends cleanly") {
    keeper_fixture fixture;
    fixture.keeper.add(parse_schedule(nightly).value()).value();
    fixture.time.advance(14h);
    blocking_executor store_work;
    {
        http::schedule_loop loop(fixture.keeper, store_work, 5ms);
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        std::size_t known = 0;
        while (known == 0 && std::chrono::steady_clock::now() < deadline) {
            std::promise<std::size_t> count;
            store_work.submit([&] { count.set_value(fixture.store.runs.size()); });
            known = count.get_future().get();
        }
        CHECK(known == 2);
    }
}
