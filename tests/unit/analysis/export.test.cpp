#include "analysis/export.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "unit/analysis/receipts.hpp"

using namespace assay;

namespace {

receipt measured() {
    receipt out = test::receipt_of({1462.5, 137.1, 137.4, 1463}, 2);
    out.arms[0].warmup = {{2000, 5.5, {}}};
    out.arms[1].steps[0].gpu_ms = 130.25;
    out.verdict = test::verdict_of(out);
    return out;
}

std::string csv(const receipt& document, export_table table) {
    return export_csv(std::span(&document, 1), table);
}
std::string lines(const receipt& document, export_table table) {
    return export_json_lines(std::span(&document, 1), table);
}

}  // namespace

TEST_CASE("steps as CSV: a header, one line a step, warm-up apart, absent times empty") {
    const std::string text = csv(measured(), export_table::steps);
    CHECK(text.starts_with("receipt,order,arm,block,quadruple,position,phase,step,wall_ms,loss,gpu_ms\r\n"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 1 + 1 + 8);
    CHECK(text.find(",1,wasm-simd-mt,A,0,0,warmup,1,2000,5.5,\r\n") != std::string::npos);
    CHECK(text.find(",2,webgpu,B,0,1,measure,1,137.1,5.5,130.25\r\n") != std::string::npos);
}

TEST_CASE("a table without rows still has its header") {
    CHECK(export_csv({}, export_table::receipts).starts_with("receipt,created_at,evidence,"));
    CHECK(export_json_lines({}, export_table::arms).empty());
}

TEST_CASE("fields with separators are quoted, and none becomes a spreadsheet's formula") {
    receipt document = measured();
    document.machine = machine_facts{};
    document.machine->hostname = "a \"b\", c";
    document.machine->machine_id = "=SUM(A1)";
    const std::string text = csv(document, export_table::receipts);
    CHECK(text.find(",'=SUM(A1),\"a \"\"b\"\", c\",") != std::string::npos);
}

TEST_CASE("JSON Lines hold the columns' names and leave out what was not measured") {
    const receipt document = measured();
    const std::string steps = lines(document, export_table::steps);
    CHECK(std::count(steps.begin(), steps.end(), '\n') == 9);
    CHECK(steps.find("\"gpu_ms\":130.25}") != std::string::npos);
    CHECK(steps.find("null") == std::string::npos);
    const std::string arms = lines(document, export_table::arms);
    CHECK(arms.find("\"median_step_ms\":1462.5") != std::string::npos);
    CHECK(arms.find("cold_start_ms") == std::string::npos);
    CHECK(lines(document, export_table::receipts).find("\"verdict\":\"verified\"") != std::string::npos);
}

TEST_CASE("the Markdown summary states ratio, arms, verdict and reasons, and text from outside stays text") {
    receipt document = measured();
    document.machine = machine_facts{};
    document.machine->hostname = "lab|<script>";
    const std::string text = markdown_summary(document);
    for (const char* part : {"10.66x", "| A | wasm-simd-mt | 1.46 s |", "verified", "`precision-spread`"})
        CHECK(text.find(part) != std::string::npos);
    CHECK(text.find("<script>") == std::string::npos);
    CHECK(text.find("lab\\|&lt;script>") != std::string::npos);
}

TEST_CASE("the badge's text states preset, machine, ratio and verdict") {
    receipt document = measured();
    document.machine = machine_facts{};
    document.machine->hostname = "m5 & <co>";
    const std::string svg = svg_badge(document);
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.find("assay smoke on m5 &amp; &lt;co&gt;: 10.7x verified") != std::string::npos);
    document.evidence = evidence_class::historical;
    CHECK(svg_badge(document).find("historical") != std::string::npos);
    document.analysis.speedup.reset();
    document.verdict.result = verdict_result::failed;
    CHECK(svg_badge(document).find(": failed, historical") != std::string::npos);
}

TEST_CASE("a long name on the badge is cut between characters") {
    receipt document = measured();
    document.machine = machine_facts{};
    std::string name;
    for (int i = 0; i < 30; ++i) name += "\xC3\xA4";
    document.machine->hostname = "x" + name;
    const std::string svg = svg_badge(document);
    CHECK(svg.find("\xC3:") == std::string::npos);
    CHECK(svg.find("\xC3<") == std::string::npos);
}
