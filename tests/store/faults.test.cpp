// What goes wrong under a store: read-only files, torn files, full disks, lost servers.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/each_store.hpp"
#include "store/open_store.hpp"
#include "store/sql_run_store.hpp"

using namespace assay;
using test::sample_run;
namespace fs = std::filesystem;

namespace {

using database_kind = test::empty_database::kind;

fs::path file_of(const test::empty_database& database) {
    return database.url().substr(9);
}

}  // namespace

TEST_CASE("a URL of an unknown kind is refused with the kinds that are known") {
    test::fake_clock time;
    for (const char* url : {"", "sqlite://", "mysql://x", "/var/store.db"}) {
        const auto store = open_store(url, time);
        CHECK(store.error().code == error_code::invalid_argument);
        CHECK(store.error().remedy.find("postgresql://") != std::string::npos);
    }
}

TEST_CASE("a password is not shown") {
    CHECK(store_url_for_display("postgresql://user:secret@host/db") == "postgresql://user:***@host/db");
    CHECK(store_url_for_display("postgresql://user@host:5432/db") == "postgresql://user@host:5432/db");
    CHECK(store_url_for_display("sqlite:///var/x.db") == "sqlite:///var/x.db");
}

TEST_CASE("a file that is no database is reported as damaged and left as it is") {
    test::temporary_folder folder;
    test::fake_clock time;
    const auto path = folder.path() / "store.db";
    std::ofstream(path) << std::string(8192, 'x');
    CHECK(open_store("sqlite://" + path.string(), time).error().code == error_code::corrupt);
    CHECK(fs::file_size(path) == 8192);
}

TEST_CASE("a database file torn in the middle is reported, not read past") {
    test::empty_database database(database_kind::sqlite);
    {
        const auto store = database.open();
        for (int i = 0; i < 200; ++i) {
            const auto receipt = test::make_sample_receipt(i);
            REQUIRE(store->add_receipt(receipt.summary, receipt.bytes).has_value());
        }
    }
    const auto whole = fs::file_size(file_of(database));
    fs::resize_file(file_of(database), whole / 2 / 4096 * 4096);
    const auto store = open_store(database.url(), database.time());
    const auto outcome = store ? (*store)->list_receipts({.limit = 500}).has_value() : false;
    CHECK_FALSE(outcome);
    const auto code = store ? (*store)->list_receipts({.limit = 500}).error().code : store.error().code;
    CHECK(code == error_code::corrupt);
}

TEST_CASE("a database that may not be written is refused when it is opened, with the remedy") {
    test::empty_database database(database_kind::sqlite);
    database.open();
    // Root may write everything, so the test gives up its rights for the attempt.
    const bool root = ::geteuid() == 0;
    ::chmod(file_of(database).c_str(), 0444);
    ::chmod(file_of(database).parent_path().c_str(), 0555);
    if (root) REQUIRE(::seteuid(65534) == 0);
    const auto store = open_store(database.url(), database.time());
    if (root) REQUIRE(::seteuid(0) == 0);
    ::chmod(file_of(database).parent_path().c_str(), 0755);
    CHECK(store.error().code == error_code::unavailable);
    CHECK(store.error().remedy.find("writable") != std::string::npos);
}

TEST_CASE("a full disk refuses the whole row and keeps what was there") {
    test::empty_database database(database_kind::sqlite);
    auto connection = open_sql(database.url(), database.time()).value();
    const auto pages = connection->execute("PRAGMA page_count").rows[0].integer(0);
    connection->execute("PRAGMA max_page_count = " + std::to_string(pages + 20));
    sql_run_store store(std::move(connection), database.time());
    const auto small = test::make_sample_receipt(1);
    REQUIRE(store.add_receipt(small.summary, small.bytes).has_value());
    auto row = sample_run(1);
    row.request_text = std::string(1 << 20, 'x');
    const auto refused = store.enqueue(row);
    CHECK(refused.error().code == error_code::unavailable);
    CHECK(refused.error().remedy.find("space") != std::string::npos);
    CHECK(store.find_run(run_id(row.id)).error().code == error_code::not_found);
    CHECK(store.receipt_file(receipt_id(small.summary.id)).value() == small.bytes);
}

TEST_CASE("the write-ahead log is cut back, however much is written") {
    test::empty_database database(database_kind::sqlite);
    const auto store = database.open();
    for (int i = 0; i < 60; ++i) {
        auto row = sample_run(i);
        row.request_text = std::string(1 << 20, static_cast<char>('a' + i % 26));
        REQUIRE(store->enqueue(row).has_value());
    }
    CHECK(fs::file_size(file_of(database).string() + "-wal") < (24u << 20));
}

TEST_CASE("another writer that holds the file too long is an answer, not a crash") {
    test::empty_database database(database_kind::sqlite);
    auto quick = open_sql(database.url(), database.time()).value();
    quick->execute("PRAGMA busy_timeout = 50");
    sql_run_store store(std::move(quick), database.time());
    auto holder = open_sql(database.url(), database.time()).value();
    {
        sql_transaction held(*holder);
        CHECK(store.enqueue(sample_run(1)).error().code == error_code::unavailable);
        CHECK(store.list_runs({}).has_value());  // readers go on
    }
    CHECK(store.enqueue(sample_run(1)).has_value());
}

TEST_CASE("a lost PostgreSQL connection is an answer once at most, then the store is back") {
    test::empty_database database(database_kind::postgresql);
    auto connection = open_sql(database.url(), database.time()).value();
    const auto backend = connection->execute("SELECT pg_backend_pid()").rows[0].text(0);
    sql_run_store store(std::move(connection), database.time());
    REQUIRE(store.enqueue(sample_run(1)).has_value());
    connect_postgresql(test::postgresql_url())->execute("SELECT pg_terminate_backend(" + backend + ")");
    const auto first = store.enqueue(sample_run(2));
    if (!first) CHECK(first.error().code == error_code::unavailable);
    CHECK(store.enqueue(sample_run(3)).has_value());
    CHECK(store.find_run(run_id(sample_run(1).id)).has_value());
}

TEST_CASE("a PostgreSQL that is not there is unavailable, and its password is in no message") {
    test::fake_clock time;
    const auto store = open_store("postgresql://user:secret@/assay?host=/nonexistent", time);
    CHECK(store.error().code == error_code::unavailable);
    CHECK(store.error().text().find("secret") == std::string::npos);
}

TEST_CASE("a text with a NUL byte is refused by PostgreSQL's store instead of being cut") {
    test::empty_database database(database_kind::postgresql);
    const auto store = database.open();
    auto row = sample_run(1);
    row.label = std::string("a\0b", 3);
    CHECK(store->enqueue(row).error().code == error_code::invalid_argument);
}
