#include <set>

#include "store/each_store.hpp"

using namespace assay;
using test::make_sample_receipt;
using test::sample_run;

namespace {

void add(run_store& store, const test::sample_receipt& receipt) {
    REQUIRE(store.add_receipt(receipt.summary, receipt.bytes).has_value());
}

std::vector<std::string> ids_of(const receipt_page& page) {
    std::vector<std::string> ids;
    for (const auto& receipt : page.receipts) ids.push_back(receipt.id);
    return ids;
}

}  // namespace

STORE_TEST("a receipt's summary comes back as it was given, absent figures absent") {
    auto receipt = make_sample_receipt(1);
    auto& s = receipt.summary;
    s.speedup = 0.1 + 0.2;
    s.interval_low = 1e-300;
    s.interval_high = 123456789.123456789;
    s.label = "é ' \"";
    s.precision = "spread";
    s.browser = "Chrome/156";
    s.first_reason = "software-adapter";
    add(store, receipt);
    const auto found = store.find_receipt(receipt_id(s.id)).value();
    CHECK(found.speedup == s.speedup);
    CHECK(found.interval_low == s.interval_low);
    CHECK(found.interval_high == s.interval_high);
    CHECK(found.a_median_ms == s.a_median_ms);
    CHECK_FALSE(found.b_median_ms.has_value());
    CHECK_FALSE(found.adapter.has_value());
    CHECK(found.label == s.label);
    CHECK(found.precision == s.precision);
    CHECK(found.browser == s.browser);
    CHECK(found.first_reason == s.first_reason);
    CHECK(found.file_sha256 == s.file_sha256);
    CHECK(found.chain_sequence == s.chain_sequence);
    CHECK(found.created_at == s.created_at);
    CHECK(found.machine_name == s.machine_name);
}

STORE_TEST("the same receipt twice is stored once, another under its id is a conflict") {
    const auto receipt = make_sample_receipt(1);
    add(store, receipt);
    add(store, receipt);
    CHECK(store.list_receipts({}).value().receipts.size() == 1);
    auto other = make_sample_receipt(2);
    other.summary.id = receipt.summary.id;
    CHECK(store.add_receipt(other.summary, other.bytes).error().code == error_code::conflict);
    CHECK(store.receipt_file(receipt_id(receipt.summary.id)).value() == receipt.bytes);
}

STORE_TEST("receipts are listed newest first and paged without doubles or holes while more arrive") {
    for (int i = 0; i < 25; ++i) add(store, make_sample_receipt(i));
    receipt_filter filter{.limit = 10};
    std::vector<std::string> seen;
    for (int page_number = 0;; ++page_number) {
        const auto page = store.list_receipts(filter).value();
        for (const auto& id : ids_of(page)) seen.push_back(id);
        if (!page.next) break;
        filter.cursor = page.next;
        add(store, make_sample_receipt(100 + page_number));
        REQUIRE(page_number < 5);
    }
    REQUIRE(seen.size() == 25);
    for (int i = 0; i < 25; ++i) CHECK(seen[static_cast<std::size_t>(i)] == make_sample_receipt(24 - i).summary.id);
}

STORE_TEST("receipts with one time are paged by id") {
    for (int i = 0; i < 6; ++i) {
        auto receipt = make_sample_receipt(i);
        receipt.summary.created_at = make_sample_receipt(0).summary.created_at;
        add(store, receipt);
    }
    std::set<std::string> seen;
    receipt_filter filter{.limit = 4};
    for (;;) {
        const auto page = store.list_receipts(filter).value();
        for (const auto& id : ids_of(page)) CHECK(seen.insert(id).second);
        if (!page.next) break;
        filter.cursor = page.next;
    }
    CHECK(seen.size() == 6);
}

STORE_TEST("filters narrow the list, alone and together") {
    for (int i = 0; i < 12; ++i) add(store, make_sample_receipt(i, i < 6 ? "00000000000000aa" : "00000000000000bb"));
    const auto count = [&](receipt_filter filter) { return store.list_receipts(filter).value().receipts.size(); };
    CHECK(count({.machine = "00000000000000aa"}) == 6);
    CHECK(count({.machine = "mac-bb"}) == 6);
    CHECK(count({.machine = "mac-cc"}) == 0);
    CHECK(count({.preset = "large"}) == 6);
    CHECK(count({.verdict = "verified"}) == 4);
    CHECK(count({.machine = "mac-aa", .preset = "large", .verdict = "verified"}) == 1);
    CHECK(count({.arm_a = "wasm-simd-mt", .arm_b = "webgpu"}) == 12);
    CHECK(count({.arm_b = "native"}) == 0);
    CHECK(count({.evidence = "measured"}) == 12);
    CHECK(count({.label = "x"}) == 0);
    CHECK(count({.since = make_sample_receipt(10).summary.created_at}) == 2);
    CHECK(count({.until = make_sample_receipt(10).summary.created_at}) == 10);
    CHECK(count({.preset = "large' OR '1'='1"}) == 0);
}

STORE_TEST("a wrong cursor or limit is refused by name") {
    for (const char* cursor : {"", "~", "x", "~x", "x~"})
        CHECK(store.list_receipts({.cursor = cursor}).error().field == "cursor");
    CHECK(store.list_receipts({.limit = 0}).error().field == "limit");
    CHECK(store.list_receipts({.limit = 501}).error().field == "limit");
    CHECK(store.list_runs({.limit = 501}).error().field == "limit");
    CHECK(store.list_runs({.cursor = "x"}).error().field == "cursor");
}

STORE_TEST("runs are listed newest first by state and label, page by page") {
    for (int i = 0; i < 7; ++i) {
        auto row = sample_run(i);
        if (i % 2 == 0) row.label = "even";
        REQUIRE(store.enqueue(row).has_value());
    }
    REQUIRE(store.request_cancel(run_id(sample_run(6).id)).has_value());
    const auto first = store.list_runs({.limit = 4}).value();
    REQUIRE(first.runs.size() == 4);
    CHECK(first.runs[0].id == sample_run(6).id);
    const auto second = store.list_runs({.cursor = first.next, .limit = 4}).value();
    CHECK(second.runs.size() == 3);
    CHECK_FALSE(second.next.has_value());
    CHECK(store.list_runs({.state = run_state::cancelled}).value().runs.size() == 1);
    CHECK(store.list_runs({.state = run_state::queued, .label = "even"}).value().runs.size() == 3);
}

STORE_TEST("the chain's head is the machine's receipt of the highest sequence") {
    CHECK_FALSE(store.chain_head_of(machine_id("00000000000000aa")).value().has_value());
    for (const int number : {0, 2, 1}) add(store, make_sample_receipt(number, "00000000000000aa"));
    add(store, make_sample_receipt(9, "00000000000000bb"));
    const auto head = store.chain_head_of(machine_id("00000000000000aa")).value().value();
    CHECK(head.sequence == 2);
    CHECK(head.file_sha256 == make_sample_receipt(2).summary.file_sha256);
}
