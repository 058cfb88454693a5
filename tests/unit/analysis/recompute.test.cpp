#include "analysis/recompute.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "analysis/summary.hpp"
#include "unit/analysis/receipts.hpp"
#include "unit/contract/examples.hpp"

using namespace assay;

namespace {

receipt judged() {
    std::vector<double> medians;
    for (const double a : {20.0, 20.1, 20.2, 19.9})
        for (const double time : {a, 10.0, 10.1, a + 0.05}) medians.push_back(time);
    receipt document = test::receipt_of(medians, 10);
    document.verdict = test::verdict_of(document);
    return document;
}

}  // namespace

TEST_CASE("a receipt as the run leaves it agrees with its samples, before and after a round trip") {
    receipt document = judged();
    CHECK(document.verdict.result == verdict_result::verified);
    CHECK(check_figures(document).empty());
    const auto again = parse_receipt(receipt_text(document));
    REQUIRE(again.has_value());
    CHECK(check_figures(*again).empty());
}

TEST_CASE("every shipped example of a receipt agrees with its samples") {
    for (const auto& [name, text] : test::examples("valid", "receipt")) {
        CAPTURE(name);
        for (const figure_mismatch& wrong : check_figures(*parse_receipt(text)))
            FAIL_CHECK(wrong.pointer << " is " << wrong.stored << ", samples give " << wrong.recomputed);
    }
}

TEST_CASE("a figure that its samples do not give is named") {
    const std::vector<std::pair<std::string, std::function<void(receipt&)>>> changes{
        {"/analysis/speedup", [](receipt& r) { *r.analysis.speedup *= 1.001; }},
        {"/analysis/a_median_ms", [](receipt& r) { *r.analysis.a_median_ms += 0.001; }},
        {"/analysis/interval95/0", [](receipt& r) { r.analysis.interval95->first -= 0.001; }},
        {"/analysis/max_loss_drift", [](receipt& r) { r.analysis.max_loss_drift = 0.01; }},
        {"/analysis/repeat_spread/a", [](receipt& r) { r.analysis.repeat_spread_a.reset(); }},
        {"/analysis/quadruples", [](receipt& r) { r.analysis.quadruples = 5; }},
        {"/analysis/details/hodges_lehmann", [](receipt& r) { r.analysis.details["hodges_lehmann"] = 9; }},
        {"/analysis/details/invented", [](receipt& r) { r.analysis.details["invented"] = 9; }},
        {"/arms/2/median_step_ms", [](receipt& r) { r.arms[2].median_step_ms = 1; }},
        {"/arms/0/final_loss", [](receipt& r) { r.arms[0].final_loss = 1; }},
        {"/model/flops_per_step", [](receipt& r) { r.model.flops_per_step *= 2; }},
        {"/model/parameters", [](receipt& r) { r.model.parameters += 1; }},
        {"/verdict/result", [](receipt& r) { r.verdict.result = verdict_result::inconclusive; }},
        {"/verdict/precision", [](receipt& r) { r.verdict.precision = "spread"; }},
        {"/model/layers", [](receipt& r) { r.request.model.layers += 1; }},
        {"/analysis/notes", [](receipt& r) { r.analysis.notes.push_back("99 of 100 steps were fast"); }},
        {"/verdict/reasons/0/message", [](receipt& r) { r.verdict.reasons[0].message = "Within 0.01 %."; }},
        {"/verdict/reasons/0/facts/half_width",
         [](receipt& r) { r.verdict.reasons[0].facts["half_width"] = "0.0001"; }},
        {"/verdict/reasons/0/facts/invented", [](receipt& r) { r.verdict.reasons[0].facts["invented"] = "9"; }},
        {"/arms/0/cold_start_ms",
         [](receipt& r) {
             r.arms[0].cold_start_parts_ms = {{"compile", 300}, {"first_step", 20}};
             r.arms[0].cold_start_ms = 200;
         }},
        {"/verdict/reasons", [](receipt& r) { r.verdict.reasons.clear(); }}};
    for (const auto& [pointer, change] : changes) {
        receipt document = judged();
        change(document);
        const auto wrong = check_figures(document);
        CAPTURE(pointer);
        REQUIRE(wrong.size() == 1);
        CHECK(wrong[0].pointer == pointer);
    }
}

TEST_CASE("a reason or note worded otherwise, with the same numbers or fewer, is another build's and no fault") {
    receipt document = judged();
    document.verdict.reasons[0].message = "Four quadruples, and precise.";
    document.verdict.reasons[0].facts.erase("limit");
    document.analysis.notes.push_back("nothing else to say");
    CHECK(check_figures(document).empty());
}

TEST_CASE("a changed sample shows in the figures") {
    receipt document = judged();
    for (step_sample& step : document.arms[1].steps) step.wall_ms = 5;
    CHECK(check_figures(document).size() > 3);
}

TEST_CASE("a receipt that claims more than its samples allow is found out") {
    receipt document = judged();
    document.arms.resize(3);
    CHECK_FALSE(check_figures(document).empty());
}

TEST_CASE("the summary shows four arms, the ratio, the drift and the verdict with its reasons") {
    receipt document = test::receipt_of({1462.5, 137.1, 137.4, 1463.0}, 20);
    document.verdict = test::verdict_of(document);
    const std::string text = summary_text(document, false);
    CAPTURE(text);
    for (const char* part : {"wasm-simd-mt", "webgpu", "1.46 s", "137 ms", "10.66x", "a point without an interval",
                             "Drift", "verified", "precision-spread"})
        CHECK(text.find(part) != std::string::npos);
    CHECK(text.find('\033') == std::string::npos);
    CHECK(summary_text(document, true).find('\033') != std::string::npos);
}

TEST_CASE("the summary of a refused run says that no arm ran and why") {
    receipt document = test::receipt_of({});
    document.verdict = test::verdict_of(document, {true, false, {{"adapter-fallback", "A fallback adapter.", {}}}});
    const std::string text = summary_text(document, false);
    CHECK(text.find("No arm ran") != std::string::npos);
    CHECK(text.find("adapter-fallback: A fallback adapter.") != std::string::npos);
}

TEST_CASE("published figures have nothing to recompute and can be no more than unqualified") {
    receipt document = test::receipt_of({});
    document.evidence = evidence_class::historical;
    document.plan.clear();
    document.analysis = {};
    document.analysis.speedup = 9.3;
    document.verdict = judge(document, analyse(document), {});
    CHECK(document.verdict.result == verdict_result::unqualified);
    CHECK(check_figures(document).empty());
    document.verdict.result = verdict_result::verified;
    CHECK_FALSE(check_figures(document).empty());
    document.evidence = evidence_class::measured;
    CHECK(judge(document, analyse(document), {}).result == verdict_result::failed);
}
