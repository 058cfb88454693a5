#include "analysis/comparability.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "analysis/fail_condition.hpp"
#include "unit/analysis/receipts.hpp"

using namespace assay;
using doctest::Approx;

namespace {

// Quadruples whose A takes `a` and whose B takes `b` ms, with a little noise that differs between quadruples.
receipt run_of(double a, double b, int quadruples) {
    std::vector<double> medians;
    for (int i = 0; i < quadruples; ++i) {
        const double noise = 1 + 0.002 * (i % 3 - 1);
        for (const double time : {a * noise, b, b, a * noise}) medians.push_back(time);
    }
    receipt out = test::receipt_of(medians);
    out.verdict = test::verdict_of(out);
    return out;
}

const difference* find(const comparison& outcome, const std::string& field) {
    const auto found = std::find_if(outcome.differences.begin(), outcome.differences.end(),
                                    [&](const difference& item) { return item.field == field; });
    return found == outcome.differences.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a receipt compared with itself is the same work at a ratio of 1") {
    const receipt one = run_of(100, 10, 4);
    const comparison outcome = compare(one, one);
    CHECK(outcome.same_work);
    CHECK(outcome.comparable);
    CHECK(outcome.differences.empty());
    CHECK(outcome.speedup_ratio->value == Approx(1));
    CHECK(outcome.speedup_ratio->interval95->first < 1);
    CHECK(outcome.speedup_ratio->interval95->second > 1);
}

TEST_CASE("another size, arm, text or seed is other work, and the field is named with its reason") {
    const receipt one = run_of(100, 10, 1);
    receipt other = one;
    other.model.shape.d_model = 48;
    other.request.arms[1] = "webgpu-f16";
    other.inputs.batches_sha256 = std::string(64, '8');
    const comparison outcome = compare(one, other);
    CHECK_FALSE(outcome.same_work);
    CHECK_FALSE(outcome.comparable);
    for (const char* field : {"/model/d_model", "/request/arms/1", "/inputs/batches_sha256"}) {
        CAPTURE(field);
        REQUIRE(find(outcome, field) != nullptr);
        CHECK(find(outcome, field)->kind == difference_kind::work);
        CHECK_FALSE(find(outcome, field)->why.empty());
    }
    CHECK(find(outcome, "/inputs/batches_sha256")->first == "absent");
    CHECK(comparison_text(one, other, outcome).find("Not the same work") != std::string::npos);
}

TEST_CASE("another machine, browser or number of threads is the same work under other conditions") {
    receipt one = run_of(100, 10, 3);
    receipt other = one;
    one.machine = machine_facts{"m1", "one", "Linux", "12", "x86_64", "cpu", 8, 1, {}, "0.1.0", {}};
    other.machine = machine_facts{"m2", "two", "Linux", "12", "x86_64", "cpu", 8, 1, {}, "0.1.0", {}};
    one.browser = browser_facts{"Chrome/151", {}, {}, {}, {}};
    other.request.threads = 4;
    const comparison outcome = compare(one, other);
    CHECK(outcome.same_work);
    CHECK(outcome.comparable);
    CHECK(find(outcome, "/machine/machine_id") != nullptr);
    CHECK(find(outcome, "/machine/cpu_model") == nullptr);
    CHECK(find(outcome, "/browser/product")->second == "absent");
    CHECK(find(outcome, "/request/threads") != nullptr);
}

TEST_CASE("blocks measured in turn are the same work under another condition") {
    const receipt one = run_of(100, 10, 3);
    receipt other = one;
    other.request.slice_steps = 2;
    const comparison outcome = compare(one, other);
    CHECK(outcome.same_work);
    REQUIRE(find(outcome, "/request/slice_steps") != nullptr);
    CHECK(find(outcome, "/request/slice_steps")->kind == difference_kind::conditions);
}

TEST_CASE("published figures and runs that do not hold are never comparable") {
    const receipt one = run_of(100, 10, 1);
    receipt published = one;
    published.evidence = evidence_class::historical;
    CHECK_FALSE(compare(one, published).comparable);
    receipt failed = one;
    failed.verdict.result = verdict_result::failed;
    CHECK_FALSE(compare(failed, failed).comparable);
    receipt unqualified = one;
    unqualified.verdict.result = verdict_result::unqualified;
    CHECK(compare(one, unqualified).comparable);
}

TEST_CASE("the ratio is the second's over the first's, of times the first's over the second's") {
    const comparison outcome = compare(run_of(100, 10, 5), run_of(90, 10, 5));
    CHECK(outcome.speedup_ratio->value == Approx(0.9));
    CHECK(outcome.a_ratio->value == Approx(100.0 / 90));
    CHECK(outcome.b_ratio->value == Approx(1));
    REQUIRE(outcome.speedup_ratio->interval95.has_value());
    CHECK(outcome.speedup_ratio->interval95->first < 0.9);
    CHECK(outcome.speedup_ratio->interval95->second < 0.95);
    CHECK_FALSE(compare(run_of(100, 10, 5), run_of(90, 10, 2)).speedup_ratio->interval95.has_value());
}

TEST_CASE("a comparison as JSON holds its differences and figures") {
    const receipt one = run_of(100, 10, 3);
    receipt other = run_of(90, 10, 3);
    other.request.threads = 2;
    const std::string text = comparison_json(one, other, compare(one, other));
    for (const char* part :
         {"\"same_work\":true", "\"field\":\"/request/threads\"", "\"ratio\":{\"value\":0.", "\"interval95\":["})
        CHECK(text.find(part) != std::string::npos);
}

TEST_CASE("a fail condition reads names, comparisons, and, or") {
    const std::map<std::string, double> figures{{"ratio", 0.9}, {"drift", 0.02}};
    const auto holds = [&](const char* text) {
        const auto condition = parse_fail_condition(text);
        if (!condition) FAIL(condition.error().text());
        return *fail_condition_holds(*condition, figures);
    };
    CHECK(holds("ratio<0.95"));
    CHECK_FALSE(holds("ratio < 0.9"));
    CHECK(holds("ratio<=0.9"));
    CHECK(holds("ratio>0.95 or drift>0.01"));
    CHECK_FALSE(holds("ratio<0.95 and drift>0.05"));
    CHECK(holds("ratio>1 and drift>0.05 || ratio!=1"));
    CHECK(holds("ratio==9e-1"));
}

TEST_CASE("a fail condition that cannot be read or has no figure is an error, never a pass") {
    for (const char* text :
         {"", "ratio", "ratio<", "<0.95", "ratio<0.95 drift>1", "ratio=1", "ratio<nan", "ratio<1 and", "ratio<1x"})
        CHECK_FALSE(parse_fail_condition(text).has_value());
    const auto missing = fail_condition_holds(*parse_fail_condition("ratio<1 or ratoi<1"), {{"ratio", 0.5}});
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message.find("ratoi") != std::string::npos);
}

TEST_CASE("the figures that a fail condition may name come from the comparison") {
    const receipt one = run_of(100, 10, 3);
    const receipt other = run_of(90, 10, 3);
    const auto figures = comparison_figures(one, other, compare(one, other));
    for (const char* name :
         {"ratio", "ratio_low", "ratio_high", "a_ratio", "b_ratio", "first_speedup", "second_speedup", "drift"})
        CHECK(figures.contains(name));
}
