#include <algorithm>
#include <set>
#include <thread>

#include "store/each_store.hpp"
#include "store/open_store.hpp"

using namespace assay;
using namespace std::chrono_literals;
using test::sample_run;

namespace {

const machine_id machine("00000000000000aa"), other_machine("00000000000000bb");

run_row enqueued(run_store& store, int number, std::vector<std::string> labels = {}) {
    auto row = sample_run(number);
    row.required_labels = std::move(labels);
    return store.enqueue(row).value();
}

}  // namespace

STORE_TEST("a run that is added can be found as it was given") {
    auto row = sample_run(1);
    row.label = "nightly \"é\" 'x'";
    row.schedule_id = "01KSCHEDULE";
    row.required_labels = {"apple-m5", "lab-2"};
    row.attempt = 3;
    CHECK(store.enqueue(row).has_value());
    const auto found = store.find_run(run_id(row.id)).value();
    CHECK(found.state == run_state::queued);
    CHECK(found.request_text == row.request_text);
    CHECK(found.label == row.label);
    CHECK(found.schedule_id == row.schedule_id);
    CHECK(found.required_labels == row.required_labels);
    CHECK(found.attempt == 3);
    CHECK(found.created_at == row.created_at);
    CHECK_FALSE(found.started_at.has_value());
    CHECK(store.find_run(run_id("01KNONE")).error().code == error_code::not_found);
    CHECK(store.enqueue(row).error().code == error_code::conflict);
}

STORE_TEST("the oldest run is claimed first, once, and none is left at the end") {
    for (const int number : {2, 1, 3}) enqueued(store, number);
    for (const int number : {1, 2, 3}) {
        const auto claimed = store.claim(machine, {}, 60s).value();
        REQUIRE(claimed.has_value());
        CHECK(claimed->id == sample_run(number).id);
        CHECK(claimed->state == run_state::running);
        CHECK(claimed->machine_id == machine.text());
        CHECK(claimed->fencing_token == 1);
        CHECK(claimed->started_at.has_value());
    }
    CHECK_FALSE(store.claim(machine, {}, 60s).value().has_value());
}

STORE_TEST("a run goes only to a machine that has all of its labels") {
    enqueued(store, 1, {"apple-m5", "lab-2"});
    enqueued(store, 2, {"nvidia"});
    enqueued(store, 3);
    CHECK(store.claim(machine, {"lab-2"}, 60s).value()->id == sample_run(3).id);
    CHECK_FALSE(store.claim(machine, {"lab-2"}, 60s).value().has_value());
    CHECK_FALSE(store.claim(machine, {}, 60s).value().has_value());
    CHECK(store.claim(machine, {"lab-2", "apple-m5", "more"}, 60s).value()->id == sample_run(1).id);
    CHECK(store.claim(machine, {"nvidia"}, 60s).value()->id == sample_run(2).id);
}

STORE_TEST("the same idempotency key with the same request is one run, with another a conflict") {
    auto row = sample_run(1);
    row.idempotency_key = "key";
    CHECK(store.enqueue(row).value().id == row.id);
    auto again = sample_run(2);
    again.idempotency_key = "key";
    CHECK(store.enqueue(again).value().id == row.id);
    again.request_text = R"({"preset":"large"})";
    CHECK(store.enqueue(again).error().code == error_code::conflict);
    CHECK(store.list_runs({}).value().runs.size() == 1);
}

STORE_TEST("the queue has a bound, and room again when a run was taken") {
    auto connection = open_sql(database.url(), database.time()).value();
    {
        sql_transaction transaction(*connection);
        for (int i = 0; i < max_queued_runs; ++i)
            connection->execute("INSERT INTO runs (id, state, request, created_at) VALUES ($1, 'queued', '{}', $2)",
                                {sample_run(i).id, sample_run(i).created_at});
        transaction.commit();
    }
    CHECK(store.enqueue(sample_run(5000)).error().code == error_code::queue_full);
    REQUIRE(store.claim(machine, {}, 60s).value().has_value());
    CHECK(store.enqueue(sample_run(5000)).has_value());
}

STORE_TEST("this very run is claimed when it is queued, and a conflict when it is not") {
    enqueued(store, 1);
    enqueued(store, 2);
    CHECK(store.claim_run(run_id(sample_run(2).id), machine, 60s).value().fencing_token == 1);
    CHECK(store.claim_run(run_id(sample_run(2).id), machine, 60s).error().code == error_code::conflict);
    CHECK(store.claim_run(run_id("01KNONE"), machine, 60s).error().code == error_code::not_found);
    CHECK(store.running_on(machine).value().size() == 1);
    CHECK(store.running_on(other_machine).value().empty());
}

STORE_TEST("a lease runs out unless heartbeats extend it") {
    enqueued(store, 1);
    const auto claimed = store.claim(machine, {}, 60s).value().value();
    const run_id id(claimed.id);
    database.time().advance(59s);
    CHECK(store.expired_leases().value().empty());
    CHECK(store.heartbeat(id, claimed.fencing_token, 60s).has_value());
    database.time().advance(59s);
    CHECK(store.expired_leases().value().empty());
    database.time().advance(1s);
    const auto expired = store.expired_leases().value();
    REQUIRE(expired.size() == 1);
    CHECK(expired[0].id == claimed.id);
}

STORE_TEST("a stale token can neither extend, nor change, nor end a run") {
    enqueued(store, 1);
    const auto claimed = store.claim(machine, {}, 60s).value().value();
    const run_id id(claimed.id);
    CHECK(store.set_phase(id, claimed.fencing_token, "measuring").has_value());
    CHECK(store.find_run(id).value().phase == "measuring");
    const auto receipt = test::make_sample_receipt(1);
    CHECK(store.heartbeat(id, claimed.fencing_token - 1, 60s).error().code == error_code::conflict);
    CHECK(store.set_phase(id, claimed.fencing_token - 1, "x").error().code == error_code::conflict);
    CHECK(store.finish(id, claimed.fencing_token - 1, run_state::done, receipt.summary, receipt.bytes).error().code ==
          error_code::conflict);
    CHECK(store.find_receipt(receipt_id(receipt.summary.id)).error().code == error_code::not_found);
    CHECK(store.heartbeat(run_id("01KNONE"), 1, 60s).error().code == error_code::not_found);
}

STORE_TEST("a run ends with its receipt in one step, and a second delivery of it changes nothing") {
    enqueued(store, 1);
    const auto claimed = store.claim(machine, {}, 60s).value().value();
    const run_id id(claimed.id);
    const auto receipt = test::make_sample_receipt(1), other = test::make_sample_receipt(2);
    REQUIRE(store.finish(id, claimed.fencing_token, run_state::done, receipt.summary, receipt.bytes).has_value());
    CHECK(store.finish(id, claimed.fencing_token, run_state::done, receipt.summary, receipt.bytes).has_value());
    CHECK(store.finish(id, claimed.fencing_token, run_state::done, other.summary, other.bytes).error().code ==
          error_code::conflict);
    const auto ended = store.find_run(id).value();
    CHECK(ended.state == run_state::done);
    CHECK(ended.receipt_id == receipt.summary.id);
    CHECK(ended.ended_at.has_value());
    CHECK(store.receipt_file(receipt_id(receipt.summary.id)).value() == receipt.bytes);
    CHECK(store.list_receipts({}).value().receipts.size() == 1);
    CHECK(store.heartbeat(id, claimed.fencing_token, 60s).error().code == error_code::conflict);
}

STORE_TEST("a receipt that cannot be stored leaves its run running") {
    enqueued(store, 1);
    const auto claimed = store.claim(machine, {}, 60s).value().value();
    auto receipt = test::make_sample_receipt(1);
    receipt.summary.file_sha256 = std::string(64, '0');
    CHECK(store.finish(run_id(claimed.id), claimed.fencing_token, run_state::done, receipt.summary, receipt.bytes)
              .error()
              .code == error_code::corrupt);
    CHECK(store.find_run(run_id(claimed.id)).value().state == run_state::running);
}

STORE_TEST("a queued run is cancelled at once, a running one is marked, an ended one is left") {
    enqueued(store, 1);
    enqueued(store, 2);
    const run_id first(sample_run(1).id), second(sample_run(2).id);
    const auto claimed = store.claim(machine, {}, 60s).value().value();
    CHECK(store.request_cancel(second).value().state == run_state::cancelled);
    CHECK(store.request_cancel(second).value().state == run_state::cancelled);
    CHECK_FALSE(store.cancel_requested(first).value());
    CHECK(store.request_cancel(first).value().state == run_state::running);
    CHECK(store.cancel_requested(first).value());
    CHECK(store.end_without_receipt(first, run_state::failed, "lost").has_value());
    CHECK(store.request_cancel(first).error().code == error_code::conflict);
    CHECK(store.find_run(first).value().error_text == "lost");
    CHECK_FALSE(store.claim(machine, {}, 60s).value().has_value());
    CHECK(store.request_cancel(run_id("01KNONE")).error().code == error_code::not_found);
}

STORE_TEST("a run ends once") {
    enqueued(store, 1);
    const run_id id(sample_run(1).id);
    CHECK(store.end_without_receipt(id, run_state::running, "x").error().code == error_code::invalid_argument);
    CHECK(store.end_without_receipt(id, run_state::interrupted, "the service stopped").has_value());
    CHECK(store.end_without_receipt(id, run_state::interrupted, "the service stopped").has_value());
    CHECK(store.end_without_receipt(id, run_state::failed, "x").error().code == error_code::conflict);
}

STORE_TEST("what is stored is there for the next process") {
    enqueued(store, 1);
    const auto receipt = test::make_sample_receipt(7);
    REQUIRE(store.add_receipt(receipt.summary, receipt.bytes).has_value());
    const auto next = database.open();
    CHECK(next->find_run(run_id(sample_run(1).id)).value().state == run_state::queued);
    CHECK(next->receipt_file(receipt_id(receipt.summary.id)).value() == receipt.bytes);
}

STORE_TEST("four orchestrators that claim at once take every run exactly once") {
    constexpr int runs = 120;
    for (int i = 0; i < runs; ++i) enqueued(store, i);
    std::vector<std::vector<std::string>> taken(4);
    std::vector<std::unique_ptr<run_store>> stores;
    for (std::size_t i = 0; i < taken.size(); ++i) stores.push_back(database.open());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < taken.size(); ++i)
        threads.emplace_back([&, i] {
            while (auto claimed = stores[i]->claim(machine_id(std::to_string(i)), {}, 60s).value())
                taken[i].push_back(claimed->id);
        });
    for (auto& thread : threads) thread.join();
    std::set<std::string> all;
    std::size_t count = 0;
    for (const auto& ids : taken) {
        all.insert(ids.begin(), ids.end());
        count += ids.size();
    }
    CHECK(count == runs);
    CHECK(all.size() == runs);
}

STORE_TEST("writers at once wait for each other instead of failing") {
    std::vector<std::unique_ptr<run_store>> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(database.open());
    std::vector<int> failures(4, 0);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int n = 0; n < 25; ++n)
                if (!stores[i]->enqueue(sample_run(static_cast<int>(i) * 1000 + n))) ++failures[i];
        });
    for (auto& thread : threads) thread.join();
    CHECK(failures == std::vector<int>(4, 0));
    CHECK(store.list_runs({.limit = 500}).value().runs.size() == 100);
}

STORE_TEST("one idempotency key used by four orchestrators at once makes one run") {
    std::vector<std::unique_ptr<run_store>> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(database.open());
    std::vector<std::string> ids(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            auto row = sample_run(static_cast<int>(i));
            row.idempotency_key = "same";
            ids[i] = stores[i]->enqueue(row).value().id;
        });
    for (auto& thread : threads) thread.join();
    CHECK(std::count(ids.begin(), ids.end(), ids[0]) == 4);
}
