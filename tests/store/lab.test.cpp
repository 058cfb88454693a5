#include <thread>

#include "receipt/digest.hpp"
#include "run/lab_ports.hpp"
#include "store/each_store.hpp"
#include "store/open_store.hpp"
#include "store/queue_watcher.hpp"

using namespace assay;
using namespace std::chrono_literals;
using test::sample_run;

namespace {

machine_row sample_machine(const std::string& id = "00000000000000aa") {
    machine_row machine;
    machine.id = id;
    machine.name = "mac-1";
    machine.public_key = "key of " + id;
    machine.labels = {"apple-m5", "lab-2"};
    machine.facts_text = R"({"os":"macOS"})";
    return machine;
}

std::unique_ptr<lab_store> open_lab(test::empty_database& database) {
    return std::move(open_lab_store(database.url(), database.time()).value());
}

std::function<std::string()> numbered_ids(int from) {
    return [next = from]() mutable { return sample_run(next++).id; };
}

}  // namespace

STORE_TEST("a machine is trusted at first sight or waits for approval, and keeps its key") {
    const auto lab = open_lab(database);
    CHECK(lab->register_machine(sample_machine(), true).value().state == machine_state::active);
    CHECK(lab->register_machine(sample_machine("00000000000000bb"), false).value().state == machine_state::pending);
    auto renamed = sample_machine();
    renamed.name = "mac-2";
    renamed.labels = {"nvidia"};
    database.time().advance(5s);
    const auto renewed = lab->register_machine(renamed, false).value();
    CHECK(renewed.state == machine_state::active);
    CHECK(renewed.name == "mac-2");
    CHECK(renewed.labels == std::vector<std::string>{"nvidia"});
    CHECK(renewed.first_seen < renewed.last_seen);
    renamed.public_key = "another key";
    CHECK(lab->register_machine(renamed, true).error().code == error_code::forbidden);
    CHECK(lab->list_machines().value().size() == 2);
    CHECK(lab->see_machine(machine_id("00000000000000cc")).error().code == error_code::not_found);
}

STORE_TEST("maintenance ends by itself, quarantine does not") {
    const auto lab = open_lab(database);
    const machine_id id(sample_machine().id);
    REQUIRE(lab->register_machine(sample_machine(), true).has_value());
    const auto until = format_utc(database.time().now() + 60s);
    CHECK(lab->set_machine_state(id, machine_state::maintenance, "new macOS", until).value().reason == "new macOS");
    database.time().advance(59s);
    CHECK(lab->see_machine(id).value().state == machine_state::maintenance);
    database.time().advance(1s);
    CHECK(lab->see_machine(id).value().state == machine_state::active);
    CHECK(lab->set_machine_state(id, machine_state::quarantined, "hot", {}).has_value());
    database.time().advance(24h);
    CHECK(lab->see_machine(id).value().state == machine_state::quarantined);
}

STORE_TEST("three failed environment checks in a row put a machine in quarantine, a passed one between does not") {
    const auto lab = open_lab(database);
    const machine_id id(sample_machine().id);
    REQUIRE(lab->register_machine(sample_machine(), true).has_value());
    for (const bool passed : {false, false, true, false, false})
        CHECK(lab->report_check(id, passed, "on battery").value().state == machine_state::active);
    const auto quarantined = lab->report_check(id, false, "on battery").value();
    CHECK(quarantined.state == machine_state::quarantined);
    CHECK(quarantined.reason == "on battery");
    CHECK(lab->set_machine_state(id, machine_state::active, "checked", {}).value().failed_checks == 0);
}

STORE_TEST("a lost machine's run ends as interrupted and its next attempt is a new record") {
    const auto lab = open_lab(database);
    const auto machine = sample_machine();
    REQUIRE(lab->register_machine(machine, true).has_value());
    auto row = sample_run(1);
    row.required_labels = {"lab-2"};
    row.label = "nightly";
    REQUIRE(store.enqueue(row).has_value());
    REQUIRE(store.claim(machine_id(machine.id), machine.labels, 60s).value().has_value());
    CHECK(lab->reap_expired(numbered_ids(100)).value().empty());
    database.time().advance(60s);
    const auto reaped = lab->reap_expired(numbered_ids(100)).value();
    REQUIRE(reaped.size() == 1);
    CHECK(reaped[0].id == row.id);
    CHECK(store.find_run(run_id(row.id)).value().state == run_state::interrupted);
    const auto next = store.find_run(run_id(sample_run(100).id)).value();
    CHECK(next.state == run_state::queued);
    CHECK(next.attempt == 2);
    CHECK(next.required_labels == row.required_labels);
    CHECK(next.label == row.label);
    CHECK(lab->reap_expired(numbered_ids(200)).value().empty());
    // The machine that was thought lost comes back with its receipt: the run is no longer its own.
    const auto receipt = test::make_sample_receipt(1);
    CHECK(store.finish(run_id(row.id), 1, run_state::done, receipt.summary, receipt.bytes).error().code ==
          error_code::conflict);
}

STORE_TEST("a run whose lease was given before the clock was set back does not stay running") {
    const auto lab = open_lab(database);
    REQUIRE(lab->register_machine(sample_machine(), true).has_value());
    REQUIRE(store.enqueue(sample_run(1)).has_value());
    REQUIRE(store.claim(machine_id(sample_machine().id), {}, 60s).value().has_value());
    database.time().set_wall(database.time().now() - 24h);
    CHECK(lab->reap_expired(numbered_ids(100)).value().size() == 1);
    // What lives renews its lease by the new time.
    const auto next = store.claim(machine_id(sample_machine().id), {}, 60s).value().value();
    CHECK(lab->reap_expired(numbered_ids(200)).value().empty());
    CHECK(store.heartbeat(run_id(next.id), next.fencing_token, 60s).has_value());
}

STORE_TEST("attempts are bounded, and a cancelled run is not tried again") {
    const auto lab = open_lab(database);
    const auto machine = sample_machine();
    REQUIRE(lab->register_machine(machine, true).has_value());
    REQUIRE(store.enqueue(sample_run(1)).has_value());
    for (int attempt = 1; attempt <= max_attempts; ++attempt) {
        REQUIRE(store.claim(machine_id(machine.id), {}, 60s).value().has_value());
        database.time().advance(61s);
        CHECK(lab->reap_expired(numbered_ids(100 * attempt)).value().size() == 1);
    }
    CHECK_FALSE(store.claim(machine_id(machine.id), {}, 60s).value().has_value());
    REQUIRE(store.enqueue(sample_run(2)).has_value());
    REQUIRE(store.claim(machine_id(machine.id), {}, 60s).value().has_value());
    REQUIRE(store.request_cancel(run_id(sample_run(2).id)).has_value());
    database.time().advance(61s);
    CHECK(lab->reap_expired(numbered_ids(1000)).value().size() == 1);
    CHECK_FALSE(store.claim(machine_id(machine.id), {}, 60s).value().has_value());
}

STORE_TEST("a machine is forgotten by an administrator, but not while it has a run") {
    const auto lab = open_lab(database);
    const machine_id id(sample_machine().id);
    CHECK(lab->remove_machine(id).error().code == error_code::not_found);
    REQUIRE(lab->register_machine(sample_machine(), true).has_value());
    REQUIRE(store.enqueue(sample_run(1)).has_value());
    REQUIRE(store.claim(id, {}, 60s).value().has_value());
    CHECK(lab->remove_machine(id).error().code == error_code::conflict);
    REQUIRE(store.end_without_receipt(run_id(sample_run(1).id), run_state::failed, "x").has_value());
    CHECK(lab->remove_machine(id).has_value());
    auto replaced = sample_machine();
    replaced.public_key = "another key";
    CHECK(lab->register_machine(replaced, false).value().state == machine_state::pending);
}

STORE_TEST("the hub's own runs are not reaped: their process seals them when it is back") {
    const auto lab = open_lab(database);
    REQUIRE(store.enqueue(sample_run(1)).has_value());
    REQUIRE(store.claim(machine_id("00000000000000ff"), {}, 60s).value().has_value());
    database.time().advance(61s);
    CHECK(lab->reap_expired(numbered_ids(100)).value().empty());
    CHECK(store.expired_leases().value().size() == 1);
}

STORE_TEST("several orchestrators that reap at once make one next attempt of each run") {
    REQUIRE(open_lab(database)->register_machine(sample_machine(), true).has_value());
    for (int i = 0; i < 10; ++i) {
        REQUIRE(store.enqueue(sample_run(i)).has_value());
        REQUIRE(store.claim(machine_id(sample_machine().id), {}, 60s).value().has_value());
    }
    database.time().advance(61s);
    std::vector<std::unique_ptr<lab_store>> labs;
    for (int i = 0; i < 4; ++i) labs.push_back(open_lab(database));
    std::vector<std::size_t> reaped(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 4; ++i)
        threads.emplace_back(
            [&, i] { reaped[i] = labs[i]->reap_expired(numbered_ids(1000 * static_cast<int>(i + 1))).value().size(); });
    for (auto& thread : threads) thread.join();
    CHECK(reaped[0] + reaped[1] + reaped[2] + reaped[3] == 10);
    CHECK(store.list_runs({.state = run_state::queued, .limit = 500}).value().runs.size() == 10);
}

STORE_TEST("a file that arrives in parts is put together, whatever was sent twice") {
    const auto lab = open_lab(database);
    const std::string file = "0123456789abcdefghij";
    const auto digest = sha256_hex(file);
    CHECK(lab->upload_size(digest).value() == 0);
    CHECK(lab->read_upload(digest).error().code == error_code::conflict);
    CHECK(lab->add_upload_part(digest, 0, file.substr(0, 8)).value() == 8);
    CHECK(lab->add_upload_part(digest, 0, file.substr(0, 8)).value() == 8);
    CHECK(lab->add_upload_part(digest, 12, file.substr(12)).error().code == error_code::conflict);
    CHECK(lab->add_upload_part(digest, 4, file.substr(4, 8)).value() == 12);
    CHECK(lab->add_upload_part(digest, 12, file.substr(12)).value() == 20);
    CHECK(lab->read_upload(digest).value() == file);
    CHECK(lab->drop_upload(digest).has_value());
    CHECK(lab->upload_size(digest).value() == 0);
}

STORE_TEST("a file whose digest is wrong is dropped, so that it can be sent again") {
    const auto lab = open_lab(database);
    const auto digest = sha256_hex("right");
    CHECK(lab->add_upload_part(digest, 0, "wrong").has_value());
    CHECK(lab->read_upload(digest).error().code == error_code::corrupt);
    CHECK(lab->upload_size(digest).value() == 0);
    CHECK(lab->add_upload_part("not-a-digest", 0, "x").error().code == error_code::invalid_argument);
    CHECK(lab->add_upload_part(digest, 0, "\xc3\xa9").error().code == error_code::invalid_argument);
    CHECK(lab->add_upload_part(digest, 0, "abandoned").has_value());
    database.time().advance(2h);
    CHECK(lab->drop_old_uploads(1h).value() == 1);
}

TEST_CASE("a watcher hears of a run that another connection queues") {
    test::empty_database database(test::empty_database::kind::postgresql);
    const auto store = database.open();
    std::atomic<int> heard{0};
    const queue_watcher watcher(database.url(), [&heard] { ++heard; });
    const auto wait_for = [&heard](int count) {
        for (int i = 0; i < 500 && heard < count; ++i) std::this_thread::sleep_for(10ms);
        return heard >= count;
    };
    REQUIRE(wait_for(1));  // it listens
    REQUIRE(store->enqueue(sample_run(1)).has_value());
    CHECK(wait_for(2));
}
