// What is old goes, what others need stays, on both engines.
#include "store/retention.hpp"

#include <filesystem>

#include "receipt/chain.hpp"
#include "receipt/digest.hpp"
#include "receipt/trust.hpp"
#include "run/receipt_recorder.hpp"
#include "run/verify_receipt.hpp"
#include "store/each_store.hpp"
#include "store/open_store.hpp"
#include "support/failed_receipt.hpp"

using namespace assay;
using namespace std::chrono_literals;
using test::make_sample_receipt;
using test::sample_run;

namespace {

constexpr auto day = 24h;
const machine_id measurer("00000000000000aa");

std::string days_ago(test::empty_database& database, int days) {
    return format_utc(database.time().now() - day * days);
}

/// A run of that age that has ended; its state is `failed`.
std::string add_ended_run(test::empty_database& database, run_store& store, int number, int days,
                          std::optional<std::string> schedule = {}) {
    auto row = sample_run(number);
    row.created_at = days_ago(database, days);
    row.schedule_id = std::move(schedule);
    REQUIRE(store.enqueue(row).has_value());
    REQUIRE(store.claim_run(run_id(row.id), measurer, 60s).has_value());
    REQUIRE(store.end_without_receipt(run_id(row.id), run_state::failed, "the browser crashed").has_value());
    return row.id;
}

/// The receipt of the run of that number, of that age.
std::string add_old_receipt(test::empty_database& database, run_store& store, int number, int days,
                            const std::string& machine = measurer.text()) {
    auto receipt = make_sample_receipt(number, machine);
    receipt.summary.created_at = days_ago(database, days);
    REQUIRE(store.add_receipt(receipt.summary, receipt.bytes).has_value());
    return receipt.summary.id;
}

bool has_run(run_store& store, const std::string& id) {
    return store.find_run(run_id(id)).has_value();
}
bool has_receipt(run_store& store, const std::string& id) {
    return store.find_receipt(receipt_id(id)).has_value();
}

std::int64_t rows_in(test::empty_database& database, const std::string& table) {
    const auto connection = std::move(open_sql(database.url(), database.time()).value());
    return connection->execute("SELECT COUNT(*) FROM " + table).rows.at(0).integer(0);
}

retention_report apply(test::empty_database& database, const retention_rules& rules,
                       const std::function<bool()>& stop = {}) {
    const auto report = apply_retention(database.url(), rules, database.time(), stop);
    REQUIRE_MESSAGE(report.has_value(), (report ? std::string() : report.error().text()));
    return *report;
}

}  // namespace

STORE_TEST("old receipts go with their files, and nothing goes that is younger or that no rule names") {
    const auto old = add_old_receipt(database, store, 1, 31), young = add_old_receipt(database, store, 2, 29),
               newest = add_old_receipt(database, store, 3, 1);
    const auto run = add_ended_run(database, store, 1, 1000);
    CHECK(apply(database, {}).receipts.empty());
    CHECK(apply(database, {.receipts_days = 30}).receipts == std::vector<std::string>{old});
    CHECK(store.receipt_file(receipt_id(old)).error().code == error_code::not_found);
    CHECK(has_receipt(store, young));
    CHECK(has_receipt(store, newest));
    CHECK(rows_in(database, "receipt_files") == 2);
    CHECK(has_run(store, run));
    CHECK(apply(database, {.receipts_days = 30}).receipts.empty());
}

STORE_TEST("the newest receipt of every machine stays however old it is") {
    std::vector<std::string> newest;
    for (const char* machine : {"00000000000000aa", "00000000000000bb"}) {
        const int first = newest.empty() ? 1 : 11;
        add_old_receipt(database, store, first, 900, machine);
        newest.push_back(add_old_receipt(database, store, first + 1, 800, machine));
    }
    CHECK(apply(database, {.receipts_days = 1}).receipts.size() == 2);
    for (const auto& id : newest) CHECK(has_receipt(store, id));
    CHECK(store.chain_head_of(machine_id("00000000000000bb")).value()->sequence == 12);
}

STORE_TEST("old runs go once they have ended; one that waits or runs stays however old") {
    const auto ended = add_ended_run(database, store, 1, 100), young = add_ended_run(database, store, 2, 80);
    auto running = sample_run(3), queued = sample_run(4);
    running.created_at = queued.created_at = days_ago(database, 100);
    queued.required_labels = {"lab-2"};
    REQUIRE(store.enqueue(running).has_value());
    REQUIRE(store.claim_run(run_id(running.id), measurer, 60s).has_value());
    REQUIRE(store.enqueue(queued).has_value());
    CHECK(apply(database, {.runs_days = 90}).runs == 1);
    CHECK_FALSE(has_run(store, ended));
    for (const auto& id : {young, running.id, queued.id}) CHECK(has_run(store, id));
    CHECK(store.find_run(run_id(queued.id)).value().required_labels == queued.required_labels);
}

STORE_TEST("a schedule's own rule holds for its runs and receipts in place of the service's") {
    struct pair {
        std::string run, receipt;
    };
    const auto add = [&](int number, int days, std::optional<std::string> schedule) {
        return pair{add_ended_run(database, store, number, days, std::move(schedule)),
                    add_old_receipt(database, store, number, days)};
    };
    const auto brief_old = add(1, 10, "brief"), brief_young = add(2, 5, "brief"), long_old = add(3, 400, "long"),
               other_old = add(4, 400, "other"), single_old = add(5, 400, {}), newest = add(6, 0, {});
    const retention_rules rules{.receipts_days = 365, .runs_days = 365, .schedules = {{"brief", 7}, {"long", 1000}}};
    const auto report = apply(database, rules);
    CHECK(report.receipts.size() == 3);
    CHECK(report.runs == 3);
    for (const auto& gone : {brief_old, other_old, single_old}) {
        CHECK_FALSE(has_run(store, gone.run));
        CHECK_FALSE(has_receipt(store, gone.receipt));
    }
    for (const auto& kept : {brief_young, long_old, newest}) {
        CHECK(has_run(store, kept.run));
        CHECK(has_receipt(store, kept.receipt));
    }
}

STORE_TEST("a stop between two transactions leaves the rest for the next time, which takes all of it") {
    constexpr int receipts = 250;  // more than one transaction removes
    for (int i = 1; i <= receipts; ++i) add_old_receipt(database, store, i, 100 + receipts - i);
    int asked = 0;
    const auto first = apply(database, {.receipts_days = 30}, [&asked] { return ++asked > 1; });
    CHECK(first.receipts.size() < receipts - 1);
    CHECK(first.receipts.size() > 0);
    CHECK_FALSE(first.vacuumed);
    CHECK(static_cast<std::size_t>(rows_in(database, "receipts")) == receipts - first.receipts.size());
    CHECK(apply(database, {.receipts_days = 30}).receipts.size() == receipts - 1 - first.receipts.size());
    CHECK(rows_in(database, "receipts") == 1);
}

STORE_TEST("what is left of a pruned chain is missing its begin and not tampered with") {
    test::temporary_folder home;
    const auto key = signing_key::from_seed(std::string(32, 'm')).value();
    const receipt_recorder recorder({key, machine_id_of(key.public_half())}, receipt_files::open(home.path()).value());
    std::vector<std::string> ids;
    for (int number = 1; number <= 4; ++number) {
        auto document = test::failed_receipt(make_sample_receipt(number).summary.id, sample_run(number).id,
                                             days_ago(database, 100 - 20 * number));
        document.machine.emplace();
        document.machine->machine_id = recorder.identity().machine_id;
        const auto recorded = recorder.record(document).value();
        REQUIRE(store.add_receipt(recorded.summary, recorded.file_bytes).has_value());
        ids.push_back(document.id);
    }
    CHECK(apply(database, {.receipts_days = 50}).receipts == std::vector<std::string>{ids[0], ids[1]});
    std::vector<chain_entry> links;
    for (const auto& id : {ids[2], ids[3]}) {
        const auto found = verify_receipt(store.receipt_file(receipt_id(id)).value());
        CHECK(found.valid);
        REQUIRE(found.link.has_value());
        links.push_back(*found.link);
    }
    const auto faults = check_chain(links);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].type == chain_fault::kind::no_start);
    CHECK(faults[0].message.find("receipts 0 to 1 are missing") != std::string::npos);
}

TEST_CASE("after a removal SQLite's file gives its space back (sqlite)") {
    test::temporary_folder folder;
    test::fake_clock time;
    const auto file = folder.path() / "store.sqlite";
    const std::string url = "sqlite://" + file.string();
    const auto store = std::move(open_store(url, time).value());
    for (int i = 1; i <= 20; ++i) {
        auto receipt = make_sample_receipt(i);
        receipt.bytes = std::string(200'000, static_cast<char>('a' + i));
        receipt.summary.file_sha256 = sha256_hex(receipt.bytes);
        receipt.summary.created_at = format_utc(time.now() - day * 100);
        REQUIRE(store->add_receipt(receipt.summary, receipt.bytes).has_value());
    }
    CHECK_FALSE(apply_retention(url, {.receipts_days = 1000}, time).value().vacuumed);
    const auto report = apply_retention(url, {.receipts_days = 30}, time).value();
    CHECK(report.receipts.size() == 19);
    CHECK(report.vacuumed);
    CHECK(std::filesystem::file_size(file) < 1'000'000);  // it held 4 MB
    CHECK(store->receipt_file(receipt_id(make_sample_receipt(20).summary.id)).value().size() == 200'000);
}

TEST_CASE("after a removal PostgreSQL takes the space again (postgresql)") {
    test::empty_database database(test::empty_database::kind::postgresql);
    const auto store = database.open();
    const auto connection = std::move(open_sql(database.url(), database.time()).value());
    const auto fill = [&](int first) {
        for (int i = first; i < first + 20; ++i) {
            auto receipt = make_sample_receipt(i);
            // Text that the engine cannot compress away.
            receipt.bytes.clear();
            for (int j = 0; j < 2000; ++j) receipt.bytes += sha256_hex(std::to_string(i) + "/" + std::to_string(j));
            receipt.summary.file_sha256 = sha256_hex(receipt.bytes);
            receipt.summary.created_at = days_ago(database, i < 20 ? 100 : 0);
            REQUIRE(store->add_receipt(receipt.summary, receipt.bytes).has_value());
        }
    };
    const auto size = [&] {
        return connection->execute("SELECT pg_total_relation_size('receipt_files')").rows.at(0).integer(0);
    };
    fill(0);
    const auto full = size();
    const auto report = apply(database, {.receipts_days = 30});
    CHECK(report.receipts.size() == 19);
    CHECK_FALSE(report.vacuumed);  // its own autovacuum does that; here at once, so that the test need not wait
    connection->execute_script("VACUUM receipt_files");
    fill(20);
    CHECK(size() < full * 3 / 2);  // and not twice as much
}
