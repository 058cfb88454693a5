#include "lab/outbox.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "support/temporary_folder.hpp"

using namespace assay;
using lab::outbox;
namespace fs = std::filesystem;

namespace {

agent_journal_entry entry_of(const std::string& receipt) {
    agent_journal_entry entry;
    entry.grant = {"01KRUN", R"({"preset":"tiny"})", "nightly", 3, 60, 2, "2026-11-30T21:00:00.000Z"};
    entry.receipt_id = receipt;
    entry.delivery = receipt_delivery{3, "done", std::string(64, 'a')};
    return entry;
}

const std::string first = "01KC000000000000000000000A", second = "01KC000000000000000000000B";

}  // namespace

TEST_CASE("the run in progress is known to the next process") {
    test::temporary_folder home;
    REQUIRE_FALSE(outbox::open(home.path())->current().value().has_value());
    REQUIRE(outbox::open(home.path())->begin(entry_of(first).grant).has_value());
    const auto grant = outbox::open(home.path())->current().value().value();
    CHECK(grant.run == "01KRUN");
    CHECK(grant.request_text == R"({"preset":"tiny"})");
    CHECK(grant.label == "nightly");
    CHECK(grant.fencing_token == 3);
    CHECK(grant.attempt == 2);
    outbox::open(home.path())->end_current();
    CHECK_FALSE(outbox::open(home.path())->current().value().has_value());
}

TEST_CASE("receipts wait, oldest first, until they are delivered") {
    test::temporary_folder home;
    const auto box = outbox::open(home.path()).value();
    REQUIRE(box.add(entry_of(second), "two").has_value());
    REQUIRE(box.add(entry_of(first), "one").has_value());
    const auto waiting = outbox::open(home.path())->waiting().value();
    REQUIRE(waiting.size() == 2);
    CHECK(waiting[0].receipt_id == first);
    CHECK(waiting[0].delivery->state == "done");
    CHECK(box.file_of(waiting[0]).value() == "one");
    box.delivered(waiting[0]);
    REQUIRE(box.waiting()->size() == 1);
    CHECK(box.waiting()->front().receipt_id == second);
}

TEST_CASE("a receipt that the hub refuses is kept, with the reason, and is sent no more") {
    test::temporary_folder home;
    const auto box = outbox::open(home.path()).value();
    REQUIRE(box.add(entry_of(first), "one").has_value());
    box.refused(entry_of(first), "the lease had run out");
    CHECK(box.waiting()->empty());
    std::ifstream kept(home.path() / "agent" / "refused" / (first + ".assay.json"));
    std::string bytes;
    CHECK(std::getline(kept, bytes));
    CHECK(bytes == "one");
    CHECK(fs::exists(home.path() / "agent" / "refused" / (first + ".reason")));
}

TEST_CASE("a damaged entry does not stand in the way of the others") {
    test::temporary_folder home;
    const auto box = outbox::open(home.path()).value();
    REQUIRE(box.add(entry_of(second), "two").has_value());
    std::ofstream(home.path() / "agent" / "waiting" / (first + ".json")) << "{torn";
    REQUIRE(box.waiting()->size() == 1);
    CHECK(box.waiting()->front().receipt_id == second);
    CHECK(box.add(entry_of("../../key"), "x").error().code == error_code::invalid_argument);
}
