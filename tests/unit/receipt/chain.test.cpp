#include "receipt/chain.hpp"

#include <doctest/doctest.h>

using namespace assay;

namespace {

chain_entry entry(std::uint64_t sequence, std::string file, std::string previous, std::string machine = "m") {
    return {"receipt-" + file, std::move(machine), file, previous.empty() ? std::nullopt : std::optional(previous),
            sequence};
}
using kind = chain_fault::kind;

}  // namespace

TEST_CASE("a whole chain has no fault, in any order and with a file given twice") {
    CHECK(check_chain({entry(2, "c", "b"), entry(0, "a", ""), entry(1, "b", "a"), entry(1, "b", "a")}).empty());
    CHECK(check_chain({}).empty());
}

TEST_CASE("a missing receipt is reported as a gap with its place") {
    const auto faults = check_chain({entry(0, "a", ""), entry(3, "d", "c"), entry(4, "e", "d")});
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].type == kind::gap);
    CHECK(faults[0].sequence == 1);
    CHECK(faults[0].message.find("1 to 2") != std::string::npos);
}

TEST_CASE("files that do not begin at the machine's first are reported") {
    const auto faults = check_chain({entry(5, "f", "e"), entry(6, "g", "f")});
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].type == kind::no_start);
}

TEST_CASE("two files at one place are a fork, and either may be continued") {
    const auto faults = check_chain({entry(0, "a", ""), entry(1, "b", "a"), entry(1, "c", "a"), entry(2, "d", "b")});
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].type == kind::fork);
    CHECK(faults[0].sequence == 1);
}

TEST_CASE("a file that names another predecessor is a broken link") {
    const auto faults = check_chain({entry(0, "a", ""), entry(1, "b", "x")});
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].type == kind::broken_link);
    CHECK(check_chain({entry(0, "a", "x")}).size() == 1);
}

TEST_CASE("machines have chains of their own") {
    CHECK(check_chain({entry(0, "a", "", "m"), entry(0, "b", "", "n"), entry(1, "c", "b", "n")}).empty());
}
