#include "store/each_store.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "receipt/digest.hpp"
#include "store/open_store.hpp"

namespace assay::test {
namespace {

std::string numbered_id(const char* prefix, int number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%s%020d", prefix, number);
    return digits;
}

}  // namespace

std::string postgresql_url() {
    const char* url = std::getenv("ASSAY_TEST_POSTGRESQL");
    REQUIRE_MESSAGE(url != nullptr,
                    "ASSAY_TEST_POSTGRESQL names no PostgreSQL: run tests/support/run_with_postgresql.sh");
    return url;
}

empty_database::empty_database(kind type) : type_(type) {
    if (type == kind::sqlite) {
        folder_ = std::make_unique<temporary_folder>();
        url_ = "sqlite://" + (folder_->path() / "store.db").string();
        return;
    }
    static std::atomic<int> counter{0};
    schema_ = "test_" + std::to_string(::getpid()) + "_" + std::to_string(counter++);
    const std::string server = postgresql_url();
    connect_postgresql(server)->execute_script("CREATE SCHEMA " + schema_);
    url_ = server + (server.find('?') == std::string::npos ? "?" : "&") + "options=-csearch_path%3D" + schema_;
}

empty_database::~empty_database() {
    if (type_ == kind::postgresql && !schema_.empty())
        connect_postgresql(postgresql_url())->execute_script("DROP SCHEMA " + schema_ + " CASCADE");
}

std::unique_ptr<run_store> empty_database::open() const {
    auto store = open_store(url_, time_);
    REQUIRE_MESSAGE(store.has_value(), (store ? std::string() : store.error().text()));
    return std::move(*store);
}

run_row sample_run(int number) {
    run_row row;
    row.id = numbered_id("01KRUN", number);
    row.request_text = R"({"preset":"tiny"})";
    row.created_at = format_utc(utc_time(std::chrono::seconds(1796000000 + number)));
    return row;
}

sample_receipt make_sample_receipt(int number, const std::string& machine) {
    sample_receipt out;
    out.bytes = "{\"payload\":\"" + std::to_string(number) + " é\"}";
    auto& s = out.summary;
    s.id = numbered_id("01KREC", number);
    s.run_id = numbered_id("01KRUN", number);
    s.machine_id = machine;
    s.machine_name = "mac-" + machine.substr(14);
    s.created_at = format_utc(utc_time(std::chrono::seconds(1796000000 + number)));
    s.preset = number % 2 == 0 ? "large" : "tiny";
    s.arm_a = "wasm-simd-mt";
    s.arm_b = "webgpu";
    s.verdict = number % 3 == 0 ? "verified" : "unqualified";
    s.evidence = "measured";
    s.policy = "apple-metal-3";
    s.speedup = 10.67 + 0.1 * number;
    s.a_median_ms = 1462.5;
    s.file_sha256 = sha256_hex(out.bytes);
    s.chain_sequence = number;
    return out;
}

}  // namespace assay::test
