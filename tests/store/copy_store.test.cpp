#include "store/copy_store.hpp"

#include <filesystem>

#include "store/each_store.hpp"
#include "store/open_store.hpp"
#include "store/run_rows.hpp"

using namespace assay;
using namespace std::chrono_literals;
using kind = test::empty_database::kind;

namespace {

void fill(test::empty_database& database) {
    const auto store = database.open();
    for (int i = 0; i < 30; ++i) {
        auto row = test::sample_run(i);
        if (i % 3 == 0) row.required_labels = {"a", "é"};
        if (i % 4 == 0) row.idempotency_key = "key " + std::to_string(i);
        REQUIRE(store->enqueue(row).has_value());
    }
    for (int i = 0; i < 5; ++i) REQUIRE(store->claim(machine_id("00000000000000aa"), {}, 60s).value().has_value());
    for (int i = 0; i < 520; ++i) {
        auto receipt = test::make_sample_receipt(i);
        receipt.summary.speedup = 1.0 / (i + 1);
        receipt.summary.flops_per_step = 1.2345678901234567e17 * (i + 1);
        REQUIRE(store->add_receipt(receipt.summary, receipt.bytes).has_value());
    }
    const auto lab = std::move(open_lab_store(database.url(), database.time()).value());
    machine_row machine;
    machine.id = "00000000000000aa";
    machine.name = "mac";
    machine.public_key = "key";
    REQUIRE(lab->register_machine(machine, true).has_value());
    REQUIRE(lab->add_upload_part(std::string(64, 'a'), 0, "part").has_value());
    REQUIRE(lab->add_upload_part(std::string(64, 'a'), 4, "more").has_value());
}

std::int64_t rows_of(const std::vector<copied_table>& tables, const std::string& name) {
    for (const auto& table : tables)
        if (table.name == name) return table.rows;
    return -1;
}

}  // namespace

TEST_CASE("a store is copied to the other engine and back, every row equal") {
    test::empty_database first(kind::sqlite), second(kind::postgresql), third(kind::sqlite);
    fill(first);
    for (const auto& copied :
         {copy_store(first.url(), second.url(), first.time()), copy_store(second.url(), third.url(), first.time())}) {
        REQUIRE_MESSAGE(copied.has_value(), (copied ? "" : copied.error().text()));
        CHECK(rows_of(*copied, "runs") == 30);
        CHECK(rows_of(*copied, "run_labels") == 20);
        CHECK(rows_of(*copied, "receipts") == 520);
        CHECK(rows_of(*copied, "receipt_files") == 520);
        CHECK(rows_of(*copied, "machines") == 1);
        CHECK(rows_of(*copied, "upload_parts") == 2);
    }
    const auto a = first.open()->list_receipts({.limit = 500}).value(),
               b = third.open()->list_receipts({.limit = 500}).value();
    CHECK(a.next == b.next);
    CHECK(a.receipts[7].flops_per_step == b.receipts[7].flops_per_step);
    CHECK(third.open()->receipt_file(receipt_id(a.receipts[7].id)).value() == test::make_sample_receipt(512).bytes);
}

TEST_CASE("ten thousand receipts move from SQLite to PostgreSQL, every row the same") {
    test::empty_database first(kind::sqlite), second(kind::postgresql);
    constexpr int receipts = 10000;
    {
        auto connection = open_sql(first.url(), first.time()).value();
        sql_transaction transaction(*connection);
        for (int i = 0; i < receipts; ++i) {
            auto receipt = test::make_sample_receipt(i);
            receipt.summary.speedup = 10.0 / (i + 1);
            REQUIRE(insert_receipt(*connection, receipt.summary, receipt.bytes).has_value());
        }
        transaction.commit();
    }
    const auto copied = copy_store(first.url(), second.url(), first.time());
    REQUIRE_MESSAGE(copied.has_value(), (copied ? "" : copied.error().text()));
    CHECK(rows_of(*copied, "receipts") == receipts);
    CHECK(rows_of(*copied, "receipt_files") == receipts);
    // By a way of its own: each engine's own count and each file's own digest.
    auto target = open_sql(second.url(), first.time()).value();
    CHECK(target->execute("SELECT count(DISTINCT id) FROM receipts").rows[0].integer(0) == receipts);
    CHECK(target
              ->execute(
                  "SELECT count(*) FROM receipts r JOIN receipt_files f ON f.receipt_id = r.id WHERE r.file_sha256 = "
                  "encode(sha256(convert_to(f.bytes, 'UTF8')), 'hex')")
              .rows[0]
              .integer(0) == receipts);
}

TEST_CASE("a store that holds something is not copied over") {
    test::empty_database first(kind::sqlite), second(kind::postgresql);
    REQUIRE(second.open()->enqueue(test::sample_run(1)).has_value());
    CHECK(copy_store(first.url(), second.url(), first.time()).error().code == error_code::conflict);
}

TEST_CASE("every table of the database is one that is copied") {
    test::empty_database database(kind::sqlite), target(kind::sqlite);
    const auto copied = copy_store(database.url(), target.url(), database.time()).value();
    auto connection = open_sql(database.url(), database.time()).value();
    for (const auto& row :
         connection->execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").rows)
        if (row.text(0) != "schema_migrations") CHECK_MESSAGE(rows_of(copied, row.text(0)) == 0, row.text(0));
}

TEST_CASE("a backup of either engine is a whole SQLite store, made while the service writes") {
    for (const auto engine : {kind::sqlite, kind::postgresql}) {
        test::empty_database database(engine);
        test::temporary_folder folder;
        fill(database);
        const auto busy = database.open();
        const auto file = folder.path() / "backup.db";
        const auto done = back_up_store(database.url(), file, database.time());
        REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().text()));
        CHECK(back_up_store(database.url(), file, database.time()).error().code == error_code::conflict);
        const auto restored = std::move(open_store("sqlite://" + file.string(), database.time()).value());
        CHECK(restored->list_receipts({.limit = 500}).value().receipts.size() == 500);
        CHECK(restored->find_run(run_id(test::sample_run(3).id)).value().required_labels.size() == 2);
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            CHECK(entry.path().string().find(".part-") == std::string::npos);
    }
}
