#include "analysis/verdict.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "unit/analysis/receipts.hpp"

using namespace assay;
using test::has_code;
using test::receipt_of;
using test::verdict_of;

namespace {

const gate_outcome software{false, true, {{"adapter-fallback", "A fallback adapter.", {}}}};
const gate_outcome no{true, false, {{"adapter-fallback", "A fallback adapter.", {}}}};

// Three quadruples whose log-ratios are centre - step, centre, centre + step.
receipt three_quadruples(double step) {
    std::vector<double> medians;
    for (const double shift : {-step, 0.0, step}) {
        const double a = 20 * std::exp(shift);
        for (const double time : {a, 10.0, 10.0, a}) medians.push_back(time);
    }
    return receipt_of(medians);
}

}  // namespace

TEST_CASE("a clear ratio with small spread is verified by spread, in words") {
    receipt document = receipt_of({10, 2, 2, 10.1});
    const verdict_facts verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::verified);
    CHECK(verdict.precision == "spread");
    REQUIRE(verdict.reasons.size() == 1);
    CHECK(verdict.reasons[0].code == "precision-spread");
    CHECK(verdict.reasons[0].message.find("not an interval") != std::string::npos);
}

TEST_CASE("a repeat spread on its limit of 10 % is precise, and above it is not") {
    receipt within = receipt_of({10, 1, 1, 10 * std::exp(0.0999999)});
    CHECK(verdict_of(within).result == verdict_result::verified);
    receipt above = receipt_of({10, 1, 1, 10 * std::exp(0.1000001)});
    const verdict_facts verdict = verdict_of(above);
    CHECK(verdict.result == verdict_result::inconclusive);
    CHECK(has_code(verdict, "spread-too-large"));
}

TEST_CASE("the ratio's logarithm must be five times the spread") {
    // A differs by 0.02 between repeats, so |ln speedup| must reach 0.1.
    const auto with_log_ratio = [](double log_ratio) {
        return receipt_of({10 * std::exp(log_ratio - 0.01), 10, 10, 10 * std::exp(log_ratio + 0.01)});
    };
    receipt enough = with_log_ratio(0.100001);
    CHECK(verdict_of(enough).result == verdict_result::verified);
    receipt slower = with_log_ratio(-0.100001);
    CHECK(verdict_of(slower).result == verdict_result::verified);
    receipt too_near = with_log_ratio(0.099999);
    const verdict_facts verdict = verdict_of(too_near);
    CHECK(verdict.result == verdict_result::inconclusive);
    CHECK(has_code(verdict, "ratio-within-spread"));
}

TEST_CASE("an interval's half-width on its limit of 5 % is precise, and above it is not, whatever the ratio") {
    const double step_at_limit = std::asinh(0.05) * std::sqrt(3.0) / 4.302652729911275;
    receipt within = three_quadruples(step_at_limit * 0.99999);
    verdict_facts verdict = verdict_of(within);
    CHECK(verdict.result == verdict_result::verified);
    CHECK(verdict.precision == "interval");
    CHECK(has_code(verdict, "precision-interval"));
    receipt above = three_quadruples(step_at_limit * 1.00001);
    verdict = verdict_of(above);
    CHECK(verdict.result == verdict_result::inconclusive);
    CHECK(has_code(verdict, "interval-too-wide"));
}

TEST_CASE("equal arms measured precisely are verified: no difference is a result too") {
    receipt document = receipt_of({10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10});
    CHECK(verdict_of(document).result == verdict_result::verified);
}

TEST_CASE("drift on its budget passes, and over it is invalid") {
    receipt document = receipt_of({10, 2, 2, 10});
    document.arms[0].steps[1].loss = 100;
    document.arms[1].steps[1].loss = 95;
    CHECK(verdict_of(document).result == verdict_result::verified);
    document.arms[1].steps[1].loss = 94.99;
    const verdict_facts verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::invalid);
    CHECK(has_code(verdict, "loss-drift"));
}

TEST_CASE("a gate that says no before any step gives refused, with its reasons and nothing else") {
    receipt document = receipt_of({10, 2, 2, 10});
    document.arms.clear();
    const verdict_facts verdict = verdict_of(document, no);
    CHECK(verdict.result == verdict_result::refused);
    CHECK(verdict.reasons == no.reasons);
}

TEST_CASE("a gate that says no after an arm ran is never verified") {
    receipt document = receipt_of({10, 2, 2, 10});
    const verdict_facts verdict = verdict_of(document, no);
    CHECK(verdict.result == verdict_result::invalid);
    CHECK(has_code(verdict, "gate-refused-midway"));
    document.arms.pop_back();
    CHECK(verdict_of(document, no).result == verdict_result::failed);
}

TEST_CASE("a policy that was not met makes the run unqualified, precise or not, and keeps both reasons") {
    receipt precise = receipt_of({10, 2, 2, 10});
    CHECK(verdict_of(precise, software).result == verdict_result::unqualified);
    receipt noisy = receipt_of({10, 9, 12, 14});
    const verdict_facts verdict = verdict_of(noisy, software);
    CHECK(verdict.result == verdict_result::unqualified);
    CHECK(has_code(verdict, "adapter-fallback"));
    CHECK(has_code(verdict, "spread-too-large"));
}

TEST_CASE("native and external arms alone are never verified, since the gate had no page to look at") {
    receipt document = receipt_of({10, 2, 2, 10.1});
    for (arm_record& block : document.arms) block.arm = block.arm == "webgpu" ? "native" : "external:pytorch";
    document.request.arms = {"external:pytorch", "native"};
    const verdict_facts verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::unqualified);
    CHECK(has_code(verdict, "no-page-arm"));
    receipt beside_a_page = receipt_of({10, 2, 2, 10.1});
    for (arm_record& block : beside_a_page.arms)
        if (block.arm == "webgpu") block.arm = "native";
    beside_a_page.request.arms = {"wasm-simd-mt", "native"};
    CHECK(verdict_of(beside_a_page).result == verdict_result::verified);
}

TEST_CASE("a missing arm, missing steps, or a failure of the run itself fail") {
    receipt document = receipt_of({10, 2, 2, 10});
    document.arms.pop_back();
    verdict_facts verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::failed);
    CHECK(has_code(verdict, "arm-missing"));

    document = receipt_of({10, 2, 2, 10});
    document.arms[1].steps.pop_back();
    verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::failed);
    CHECK(has_code(verdict, "steps-missing"));

    document.arms[1].errors = {"device-lost: gone"};
    verdict = verdict_of(document);
    CHECK(has_code(verdict, "arm-failed"));
    CHECK(verdict.reasons[0].message.find("device-lost: gone") != std::string::npos);

    document = receipt_of({10, 2, 2, 10});
    verdict = verdict_of(document, {}, {{"run-browser-launch-failed", "No browser.", {}}});
    CHECK(verdict.result == verdict_result::failed);
    CHECK(has_code(verdict, "run-browser-launch-failed"));

    document.arms.clear();
    document.plan.clear();
    CHECK(verdict_of(document).result == verdict_result::failed);
}

TEST_CASE("unequal or missing digests are invalid and named") {
    receipt document = receipt_of({10, 2, 2, 10});
    document.arms[3].batches_sha256 = std::string(64, '9');
    verdict_facts verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::invalid);
    CHECK(has_code(verdict, "batches-differ"));

    document = receipt_of({10, 2, 2, 10});
    document.inputs.weights_sha256 = std::string(64, '9');
    CHECK(has_code(verdict_of(document), "weights-differ"));

    document = receipt_of({10, 2, 2, 10});
    document.arms[2].corpus_sha256.reset();
    verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::invalid);
    CHECK(has_code(verdict, "digest-missing"));
}

TEST_CASE("errors of an arm that made its steps, losses that are not finite and times that cannot be are invalid") {
    receipt document = receipt_of({10, 2, 2, 10});
    document.arms[0].errors = {"gpu-validation: x"};
    CHECK(verdict_of(document).result == verdict_result::invalid);

    document = receipt_of({10, 2, 2, 10});
    document.arms[0].steps[2].loss = std::nan("");
    verdict_facts verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::invalid);
    CHECK(has_code(verdict, "loss-not-finite"));

    document = receipt_of({10, 2, 2, 10});
    for (step_sample& step : document.arms[1].steps) step.wall_ms = 0;
    verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::invalid);
    CHECK(has_code(verdict, "time-not-positive"));
}

TEST_CASE("blocks out of the planned order are invalid") {
    receipt document = receipt_of({10, 2, 2, 10});
    std::swap(document.arms[0], document.arms[1]);
    const verdict_facts verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::invalid);
    CHECK(has_code(verdict, "plan-mismatch"));
}

TEST_CASE("an automatic run that stopped before its rule allows does not pass") {
    std::vector<double> medians;
    for (int i = 0; i < 5; ++i)
        for (const double time : {20.0, 10.0, 10.0, 20.0}) medians.push_back(time);
    receipt document = receipt_of(medians);
    document.request.quadruples = {true, 1, 20, 0.05};
    const verdict_facts verdict = verdict_of(document);
    CHECK(verdict.result == verdict_result::failed);
    CHECK(has_code(verdict, "quadruples-mismatch"));
}

TEST_CASE("what the gate and the run said is read back from a stored verdict") {
    receipt document = receipt_of({10, 2, 2, 10});
    document.verdict = verdict_of(document, software, {{"run-crashed", "Chrome crashed.", {}}});
    CHECK(stored_gate_outcome(document).unqualified);
    CHECK_FALSE(stored_gate_outcome(document).refused);
    CHECK(stored_gate_outcome(document).reasons == software.reasons);
    CHECK(stored_failures(document).size() == 1);
    document.verdict = verdict_of(document, no);
    CHECK(stored_gate_outcome(document).refused);
}
