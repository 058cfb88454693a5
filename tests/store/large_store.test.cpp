// A hundred thousand receipts: the lists' plans must go through indexes, on both engines.
#include <algorithm>
#include <chrono>

#include "store/each_store.hpp"
#include "store/open_store.hpp"

using namespace assay;

namespace {

constexpr int receipts = 100000;

/// One statement makes them all: `n` counts from 0.
std::string fill_statement(sql_dialect dialect) {
    const bool postgresql = dialect == sql_dialect::postgresql;
    const std::string numbers = postgresql
                                    ? "SELECT n FROM generate_series(0, " + std::to_string(receipts - 1) + ") AS n"
                                    : "WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n + 1 < " +
                                          std::to_string(receipts) + ") SELECT n FROM c";
    const std::string padded = postgresql ? "lpad(n::text, 20, '0')" : "printf('%020d', n)";
    const std::string minute =
        postgresql ? "to_char(timestamp '2026-01-01' + n * interval '1 minute', 'YYYY-MM-DD\"T\"HH24:MI:SS.000\"Z\"')"
                   : "strftime('%Y-%m-%dT%H:%M:00.000Z', '2026-01-01', n || ' minutes')";
    const auto text = [&](const std::string& expression) {
        return postgresql ? "(" + expression + ")::text" : "(" + expression + ")";
    };
    return "INSERT INTO receipts (id, run_id, machine_id, machine_name, created_at, preset, arm_a, arm_b, verdict, "
           "evidence, policy, "
           "speedup, a_median_ms, b_median_ms, label, file_sha256, chain_sequence) SELECT '01KREC' || " +
           padded + ", '01KRUN' || " + padded + ", '00000000000000' || " + text("10 + n % 40") + ", 'mac-' || " +
           text("n % 40") + ", " + minute +
           ", CASE n % 5 WHEN 0 THEN 'small' WHEN 1 THEN 'medium' WHEN 2 THEN 'large' WHEN 3 THEN 'xl' ELSE 'tiny' "
           "END, 'wasm-simd-mt', "
           "'webgpu', CASE n % 10 WHEN 0 THEN 'unqualified' ELSE 'verified' END, 'measured', 'apple-metal-3', 9.3 + n "
           "% 7, 1462.5, 137.1, "
           "CASE n % 1000 WHEN 0 THEN 'release' END, 'digest', n / 40 FROM (" +
           numbers + ") AS numbers";
}

std::string plan_of(sql_connection& connection, const std::string& query) {
    std::string plan;
    const bool sqlite = connection.dialect() == sql_dialect::sqlite;
    for (const auto& row : connection.execute((sqlite ? "EXPLAIN QUERY PLAN " : "EXPLAIN ") + query).rows)
        plan += row.text(sqlite ? 3 : 0) + "\n";
    return plan;
}

}  // namespace

STORE_TEST("lists over a hundred thousand receipts go through indexes and answer at once") {
    auto connection = open_sql(database.url(), database.time()).value();
    connection->execute(fill_statement(connection->dialect()));
    connection->execute(connection->dialect() == sql_dialect::postgresql ? "ANALYZE receipts" : "ANALYZE");
    const std::string order = " ORDER BY created_at DESC, id DESC LIMIT 51";
    for (const char* where : {"", " WHERE machine_id = '0000000000000010'", " WHERE machine_name = 'mac-7'",
                              " WHERE preset = 'large'", " WHERE verdict = 'verified'", " WHERE evidence = 'measured'",
                              " WHERE label = 'release'", " WHERE arm_a = 'wasm-simd-mt' AND arm_b = 'webgpu'",
                              " WHERE created_at >= '2026-02-01' AND created_at < '2026-02-02'",
                              " WHERE machine_name = 'mac-7' AND preset = 'large' AND verdict = 'verified'",
                              " WHERE (created_at, id) < ('2026-02-01', '01KREC')"}) {
        const auto plan = plan_of(*connection, "SELECT * FROM receipts" + std::string(where) + order);
        INFO(where << "\n" << plan);
        CHECK((plan.find("USING INDEX") != std::string::npos || plan.find("Index Scan") != std::string::npos ||
               plan.find("Bitmap Index") != std::string::npos));
        CHECK(plan.find("Seq Scan") == std::string::npos);
    }
    const auto chain = plan_of(
        *connection,
        "SELECT file_sha256 FROM receipts WHERE machine_id = '0000000000000010' ORDER BY chain_sequence DESC LIMIT 1");
    CHECK(chain.find("receipts_by_chain") != std::string::npos);

    std::vector<double> milliseconds;
    receipt_filter filter{.preset = "large", .verdict = "verified"};
    for (int page = 0; page < 100; ++page) {
        const auto begun = std::chrono::steady_clock::now();
        const auto found = store.list_receipts(filter).value();
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count());
        CHECK(found.receipts.size() == 50);
        filter.cursor = found.next;
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    MESSAGE("a page of 50 of " << receipts << ": median " << milliseconds[50] << " ms, p99 " << milliseconds[98]
                               << " ms");
    CHECK(milliseconds[50] < 50);  // the median: a busy machine may hold up single ones
}
