#include "contract/receipt.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/random.hpp"
#include "unit/contract/examples.hpp"

using namespace assay;

namespace {

receipt example(const std::string& name) {
    auto parsed = parse_receipt(test::examples("valid", "receipt").at("receipt." + name + ".json"));
    if (!parsed) FAIL(parsed.error().text());
    return *parsed;
}

}  // namespace

TEST_CASE("every valid example of a receipt survives a round trip unchanged") {
    for (const auto& [name, text] : test::examples("valid", "receipt")) {
        CAPTURE(name);
        const auto first = parse_receipt(text);
        if (!first) FAIL(first.error().text());
        const auto second = parse_receipt(receipt_text(*first));
        if (!second) FAIL(second.error().text());
        CHECK(*first == *second);
    }
}

TEST_CASE("every invalid example of a receipt is refused with a pointer to what is wrong") {
    const std::map<std::string, std::string> pointers{{"unknown-major", "/schema"},
                                                      {"other-schema", "/schema"},
                                                      {"unknown-key", "/extra"},
                                                      {"no-verdict", "/verdict"},
                                                      {"unknown-verdict", "/verdict/result"},
                                                      {"unknown-evidence", "/evidence"},
                                                      {"null-speedup", "/analysis/speedup"},
                                                      {"text-loss", "/arms/0/steps/0/loss"},
                                                      {"negative-time", "/arms/0/steps/0/wall_ms"},
                                                      {"unknown-block", "/arms/0/block"},
                                                      {"three-bounds", "/analysis/interval95"},
                                                      {"short-digest", "/inputs/weights_sha256"},
                                                      {"local-time", "/created_at"},
                                                      {"bad-request", "/request/steps"}};
    const auto found = test::examples("invalid", "receipt");
    CHECK(found.size() == pointers.size());
    for (const auto& [name, pointer] : pointers) {
        CAPTURE(name);
        const auto parsed = parse_receipt(found.at("receipt." + name + ".json"));
        REQUIRE_FALSE(parsed.has_value());
        CHECK(parsed.error().field == pointer);
    }
}

TEST_CASE("an unknown major version is refused by name") {
    const auto parsed = parse_receipt(test::examples("invalid", "receipt").at("receipt.unknown-major.json"));
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == error_code::unsupported_version);
    CHECK(parsed.error().message.find("assay.receipt/2.0") != std::string::npos);
}

TEST_CASE("unknown fields of a newer minor version are dropped, the others are read") {
    std::string text = test::examples("valid", "receipt").at("receipt.measured.json");
    const std::string version = "assay.receipt/1.0";
    text.replace(text.find(version), version.size(), "assay.receipt/1.7");
    text.insert(text.find('{') + 1, "\"later\": {\"x\": [1]},");
    const auto parsed = parse_receipt(text);
    if (!parsed) FAIL(parsed.error().text());
    CHECK(parsed->schema == "assay.receipt/1.7");
    CHECK(parsed->arms.size() == 4);
}

TEST_CASE("doubles survive exactly, whatever their bits") {
    receipt document = example("measured");
    seeded_random random(7);
    document.arms[0].steps.clear();
    while (document.arms[0].steps.size() < 2000) {
        const std::uint64_t bits = random.next();
        double value = 0;
        static_assert(sizeof value == sizeof bits);
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) continue;
        document.arms[0].steps.push_back({std::abs(value), value, std::abs(value) / 3});
    }
    document.arms[0].steps.push_back({5e-324, -1.7976931348623157e308, 0.1});
    document.arms[0].steps.push_back({9007199254740993.0, 1e21, 123456789012345680.0});
    const auto again = parse_receipt(receipt_text(document));
    REQUIRE(again.has_value());
    CHECK(again->arms[0].steps == document.arms[0].steps);
}

TEST_CASE("a number that is not finite is never written") {
    for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        receipt document = example("measured");
        document.arms[1].steps[0].loss = value;
        CHECK_THROWS_AS(receipt_text(document), std::logic_error);
        document = example("measured");
        document.analysis.speedup = value;
        CHECK_THROWS_AS(receipt_text(document), std::logic_error);
    }
}

TEST_CASE("what was not measured is absent from the text") {
    receipt document;
    document.request.preset = "smoke";
    REQUIRE(validate(document.request).has_value());
    document.created_at = "2026-11-30T21:37:27Z";
    const std::string text = receipt_text(document);
    for (const char* absent : {"null", "machine", "speedup", "interval95", "browser", "nonce", "previous_sha256"})
        CHECK(text.find(absent) == std::string::npos);
    CHECK(parse_receipt(text).has_value());
}

TEST_CASE("a console line that is not UTF-8 becomes text that is") {
    receipt document = example("measured");
    document.arms[0].console = {"bad \xff byte"};
    const auto again = parse_receipt(receipt_text(document));
    REQUIRE(again.has_value());
    CHECK(again->arms[0].console[0] == "bad \xEF\xBF\xBD byte");
}

TEST_CASE("a seed above 2^53 survives in a receipt") {
    receipt document = example("measured");
    document.request.seed = UINT64_MAX - 1;
    CHECK(parse_receipt(receipt_text(document))->request.seed == UINT64_MAX - 1);
}

TEST_CASE("a receipt cut anywhere is refused without a crash") {
    const std::string text = test::examples("valid", "receipt").at("receipt.measured.json");
    for (std::size_t length = 0; length + 2 < text.size(); length += 37)
        CHECK_FALSE(parse_receipt(text.substr(0, length)).has_value());
}
