#include "contract/published_history.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "unit/contract/examples.hpp"

using namespace assay;

TEST_CASE("published figures are read, and never as measured ones") {
    const auto good =
        parse_published_history(test::examples("valid", "published-history").at("published-history.one.json"));
    if (!good) FAIL(good.error().text());
    CHECK(good->figures.size() == 1);
    const auto bad = test::examples("invalid", "published-history");
    const auto measured = parse_published_history(bad.at("published-history.claims-measured.json"));
    REQUIRE_FALSE(measured.has_value());
    CHECK(measured.error().field == "/figures/0/evidence");
    const auto zero = parse_published_history(bad.at("published-history.zero-speedup.json"));
    REQUIRE_FALSE(zero.has_value());
    CHECK(zero.error().field == "/figures/0/speedup");
}

TEST_CASE("the shipped history holds the published curve, table and point, and makes receipts that read back") {
    std::size_t figures = 0;
    std::size_t measured = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(ASSAY_SOURCE_DIR) / "results/historical")) {
        CAPTURE(entry.path().string());
        std::ifstream file(entry.path(), std::ios::binary);
        const auto history = parse_published_history(std::string{std::istreambuf_iterator<char>(file), {}});
        if (!history) FAIL(history.error().text());
        for (const published_figure& figure : history->figures) {
            const receipt document =
                published_receipt(*history, figure, "01KBBW3XM3B1C2D3E4F5G6H7J8", "2026-11-30T21:37:27Z");
            const auto again = parse_receipt(receipt_text(document));
            if (!again) FAIL(again.error().text());
            CHECK(*again == document);
            CHECK(again->verdict.result == verdict_result::unqualified);
            CHECK(again->arms.empty());
            ++figures;
            measured += document.evidence == evidence_class::measured ? 1 : 0;
        }
    }
    CHECK(figures == 16);
    CHECK(measured == 0);
}
