#include "store/migrate.hpp"

#include "store/each_store.hpp"
#include "store/open_store.hpp"

using namespace assay;

namespace {

constexpr migration two_steps[] = {
    {1, "0001_first", "CREATE TABLE first (a INTEGER); CREATE TABLE also (b TEXT);"},
    {2, "0002_second",
     "ALTER TABLE first ADD COLUMN c TEXT;\n--postgresql ALTER TABLE first ALTER COLUMN c TYPE TEXT COLLATE \"C\";\n"},
};

std::unique_ptr<sql_connection> connect(const std::string& url) {
    return url.starts_with("sqlite") ? connect_sqlite(url.substr(9)) : connect_postgresql(url);
}

std::int64_t applied(sql_connection& connection) {
    return connection.execute("SELECT count(*) FROM schema_migrations").rows[0].integer(0);
}

void on_both(void (*body)(sql_connection& connection, const assay::clock& time)) {
    for (const auto kind : {test::empty_database::kind::sqlite, test::empty_database::kind::postgresql}) {
        test::empty_database database(kind);
        const auto connection = connect(database.url());
        body(*connection, database.time());
    }
}

}  // namespace

TEST_CASE("missing migrations are applied in order, and none twice") {
    on_both([](sql_connection& connection, const assay::clock& time) {
        migrate(connection, std::span(two_steps).first(1), time);
        CHECK(applied(connection) == 1);
        migrate(connection, two_steps, time);
        migrate(connection, two_steps, time);
        CHECK(applied(connection) == 2);
        connection.execute("INSERT INTO first (a, c) VALUES (1, 'x')");
    });
}

TEST_CASE("a store newer than the build is refused by name") {
    on_both([](sql_connection& connection, const assay::clock& time) {
        migrate(connection, two_steps, time);
        try {
            migrate(connection, std::span(two_steps).first(1), time);
            FAIL("a newer store was accepted");
        } catch (const error_exception& failure) {
            CHECK(failure.cause().code == error_code::unsupported_version);
            CHECK(failure.cause().message.find("0002_second") != std::string::npos);
        }
    });
}

TEST_CASE("a migration that was edited after it was applied is refused") {
    on_both([](sql_connection& connection, const assay::clock& time) {
        migrate(connection, std::span(two_steps).first(1), time);
        const migration edited[] = {{1, "0001_first", "CREATE TABLE first (a BIGINT);"}};
        CHECK_THROWS_AS(migrate(connection, edited, time), error_exception);
    });
}

TEST_CASE("a migration that fails leaves the form before it, whole") {
    on_both([](sql_connection& connection, const assay::clock& time) {
        migrate(connection, std::span(two_steps).first(1), time);
        const migration failing[] = {
            two_steps[0], {2, "0002_failing", "CREATE TABLE second (a INTEGER); CREATE TABLE first (a INTEGER);"}};
        CHECK_THROWS_AS(migrate(connection, failing, time), sql_failure);
        CHECK(applied(connection) == 1);
        CHECK_THROWS_AS(connection.execute("SELECT * FROM second"), sql_failure);
        migrate(connection, two_steps, time);
        CHECK(applied(connection) == 2);
    });
}

TEST_CASE("lines for PostgreSQL are comments to SQLite") {
    CHECK(migration_text("a\n--postgresql b\nc", sql_dialect::postgresql) == "a\nb\nc");
    CHECK(migration_text("a\n--postgresql b\nc", sql_dialect::sqlite) == "a\n--postgresql b\nc");
}

TEST_CASE("the build's own migrations are numbered from 1 without a gap") {
    int expected = 1;
    for (const auto& step : embedded_migrations()) CHECK(step.version == expected++);
    CHECK(expected > 1);
}
