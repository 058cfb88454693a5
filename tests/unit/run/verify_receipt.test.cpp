// What `assay verify` finds in files: real ones, changed ones, and forgeries that are signed as well as the real ones.
#include "run/verify_receipt.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "core/random.hpp"
#include "receipt/envelope.hpp"
#include "unit/analysis/receipts.hpp"
#include "unit/contract/examples.hpp"

using namespace assay;

namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> real_receipts() {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::directory_iterator(fs::path(ASSAY_SOURCE_DIR) / "results/nvidia-h200")) {
        std::ifstream file(entry.path(), std::ios::binary);
        out[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return out;
}

verify_options_of_key with_policies() {
    verify_options_of_key out;
    out.policies = fs::path(ASSAY_SOURCE_DIR) / "orchestrator/gate/policies";
    return out;
}

std::string all_reasons(const receipt_verification& found) {
    std::string out;
    for (const std::string& why : found.reasons) out += why + "\n";
    return out;
}

/// A receipt of one quadruple made on an H200, verified by the policy "nvidia".
receipt verified_on_hardware() {
    std::ifstream file(fs::path(ASSAY_SOURCE_DIR) / "tests/support/receipts/small.assay.json", std::ios::binary);
    const auto found = verify_receipt(std::string{std::istreambuf_iterator<char>(file), {}});
    REQUIRE(found.valid);
    return *found.document;
}

std::string sealed(const receipt& document, const signing_key& key = signing_key::generate()) {
    return seal(receipt_text(document), key).value();
}

/// A forger recomputes every figure and the verdict before signing.
void judge_again(receipt& document) {
    fill_figures(document);
    document.verdict = judge(document, document.analysis, stored_gate_outcome(document), {}, stored_failures(document));
}

}  // namespace

TEST_CASE("receipts made on another machine verify here, the gate asked again by the shipped policies") {
    const auto files = real_receipts();
    REQUIRE(files.size() >= 5);
    for (const auto& [name, bytes] : files) {
        const auto found = verify_receipt(bytes, with_policies());
        CAPTURE(name);
        CAPTURE(all_reasons(found));
        CHECK(found.valid);
        CHECK(found.remarks.empty());
    }
}

TEST_CASE("no real receipt with one changed byte verifies, in ten thousand random changes") {
    const auto files = real_receipts();
    seeded_random random(6);
    int accepted = 0;
    int tried = 0;
    const auto change = [&](const std::string& file, int times) {
        for (; times > 0; --times, ++tried) {
            std::string changed = file;
            char& byte = changed[random.below(changed.size())];
            byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1 + random.below(255)));
            accepted += verify_receipt(changed).valid ? 1 : 0;
        }
    };
    for (const auto& [name, bytes] : files) change(bytes, 300);
    change(files.at("refused.assay.json"), 10000 - tried);
    CHECK(tried == 10000);
    CHECK(accepted == 0);
}

TEST_CASE("a forgery with a good signature is found out where its figures do not follow from its samples") {
    const std::vector<std::pair<std::string, std::function<void(receipt&)>>> forgeries{
        {"/analysis/speedup", [](receipt& r) { *r.analysis.speedup *= 2; }},
        {"/analysis/a_median_ms",
         [](receipt& r) {
             for (step_sample& step : r.arms[0].steps) step.wall_ms *= 2;
         }},
        {"/verdict/reasons",  // the best three blocks of four
         [](receipt& r) {
             r.arms.pop_back();
             r.analysis = analyse(r);
         }},
        {"/verdict/result",  // the slow steps left out
         [](receipt& r) {
             for (arm_record& block : r.arms) block.steps.resize(5);
             fill_figures(r);
         }},
        {"/verdict/result",  // fewer steps asked for afterwards in one block only
         [](receipt& r) {
             r.arms[1].steps.pop_back();
             fill_figures(r);
         }},
        {"/verdict/result",  // blocks exchanged so that the slow ones stand as A
         [](receipt& r) {
             std::swap(r.arms[0].steps, r.arms[1].steps);
             std::swap(r.arms[0].block, r.arms[1].block);
             fill_figures(r);
         }},
        {"/verdict/result", [](receipt& r) { r.arms[2].weights_sha256 = std::string(64, 'f'); }},
        {"/verdict/result", [](receipt& r) { r.arms[2].errors.push_back("device-lost: the device was lost"); }},
        {"/verdict/result",
         [](receipt& r) {
             for (step_sample& step : r.arms[1].steps) step.loss *= 1.2;
             fill_figures(r);
         }},
        {"/verdict/precision", [](receipt& r) { r.verdict.precision = "interval"; }},
        {"/verdict/reasons/0/facts/spread", [](receipt& r) { r.verdict.reasons[0].facts["spread"] = "0.0001"; }},
        {"/verdict/reasons/0/message", [](receipt& r) { r.verdict.reasons[0].message = "It is 99 times as fast."; }},
        {"/model/layers", [](receipt& r) { r.request.preset = "xl"; }},
        {"/plan", [](receipt& r) {
             r.plan = {'B', 'A', 'A', 'B'};
             std::swap(r.arms[0], r.arms[1]);
             std::swap(r.arms[2], r.arms[3]);
             for (int i = 0; i < 4; ++i) r.arms[static_cast<std::size_t>(i)].position = i;
             judge_again(r);
         }}};
    for (const auto& [pointer, forge] : forgeries) {
        receipt document = verified_on_hardware();
        forge(document);
        const auto found = verify_receipt(sealed(document), with_policies());
        CAPTURE(pointer);
        CAPTURE(all_reasons(found));
        CHECK_FALSE(found.valid);
        CHECK(all_reasons(found).find(pointer) != std::string::npos);
    }
}

TEST_CASE("a verdict that leaves out what the gate says of the stored facts is found out") {
    receipt document = verified_on_hardware();
    for (arm_record& block : document.arms) {
        block.adapter_before->page->is_fallback = true;
        block.adapter_after->page->architecture = "swiftshader";
    }
    auto found = verify_receipt(sealed(document), with_policies());
    CHECK_FALSE(found.valid);
    CHECK(all_reasons(found).find("adapter-fallback") != std::string::npos);
    CHECK(all_reasons(found).find("adapter-software") != std::string::npos);

    document = verified_on_hardware();
    document.request.policy = "apple-metal-3";
    found = verify_receipt(sealed(document), with_policies());
    CHECK(all_reasons(found).find("adapter-vendor") != std::string::npos);

    document = verified_on_hardware();
    document.arms[2].adapter_after.reset();
    CHECK_FALSE(verify_receipt(sealed(document), with_policies()).valid);

    document = verified_on_hardware();
    document.request.policy = "any";
    CHECK_FALSE(verify_receipt(sealed(document), with_policies()).valid);
}

TEST_CASE("a policy that is not at hand is said to be unchecked, and so are figures without samples") {
    receipt document = verified_on_hardware();
    document.request.policy = "of-our-own";
    auto found = verify_receipt(sealed(document), with_policies());
    CHECK(found.valid);
    REQUIRE(found.remarks.size() == 1);
    CHECK(found.remarks[0].find("of-our-own") != std::string::npos);

    receipt published = test::receipt_of({});
    published.request.quadruples.count = 1;
    published.evidence = evidence_class::observed;
    published.analysis = {};
    published.analysis.speedup = 10.67;
    published.verdict = judge(published, published.analysis, {});
    found = verify_receipt(sealed(published), with_policies());
    CAPTURE(all_reasons(found));
    CHECK(found.valid);
    CHECK(found.remarks.size() == 1);
    published.verdict.result = verdict_result::verified;
    CHECK_FALSE(verify_receipt(sealed(published), with_policies()).valid);
    published.evidence = evidence_class::measured;
    CHECK_FALSE(verify_receipt(sealed(published), with_policies()).valid);
}

TEST_CASE("a trusted key speaks for its own machine, through its rotations, and for no other") {
    const signing_key mine = signing_key::generate();
    const signing_key next = signing_key::generate();
    const signing_key other = signing_key::generate();
    verify_options_of_key accepted;
    accepted.trust.emplace();
    accepted.trust->add_public_key("mine", mine.public_half());
    accepted.trust->add_public_key("other", other.public_half());
    receipt document = verified_on_hardware();
    document.machine->machine_id = machine_id_of(mine.public_half());
    CHECK(verify_receipt(sealed(document, mine), accepted).valid);
    CHECK_FALSE(verify_receipt(sealed(document, other), accepted).valid);
    CHECK_FALSE(verify_receipt(sealed(document, next), accepted).valid);
    REQUIRE(accepted.trust
                ->add_rotation(rotation_certificate(mine, next, document.machine->machine_id, "2026-11-30T21:37:27Z"))
                .has_value());
    CHECK(verify_receipt(sealed(document, next), accepted).valid);
    accepted.trust->revoke({mine.public_half().id(), "the disk was stolen"});
    const auto found = verify_receipt(sealed(document, mine), accepted);
    CHECK_FALSE(found.valid);
    CHECK(all_reasons(found).find("the disk was stolen") != std::string::npos);
    CHECK_FALSE(verify_receipt(sealed(document, next), accepted).valid);
}
