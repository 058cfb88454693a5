#include "gate/adapter_policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "adapter_fixtures.hpp"
#include "gate/adapter_names.hpp"

using namespace assay;
using namespace assay::test;

namespace {

adapter_policy shipped(const std::string& name) {
    return load_adapter_policy(std::string(ASSAY_SOURCE_DIR) + "/orchestrator/gate/policies", name, policy_source::names_only)
        .value();
}

/// A rate that any hardware of these fixtures would show, so that each is judged by its names alone.
adapter_views with_plausible_probe(adapter_views views) {
    if (views.page) views.probe_gflops = 1500;
    return views;
}

adapter_views apple_m3() {
    adapter_views views;
    views.page = page_adapter{"apple", "metal-3", "", "", false, {}, {}, {}, {}};
    views.devtools = devtools_adapter{{{0x106b, 0, "Apple", "ANGLE (Apple, ANGLE Metal Renderer: Apple M3)", "", ""}}, {}, {}, {}, "", ""};
    views.probe_gflops = 1500;
    return views;
}

bool has_code(const policy_decision& decision, std::string_view code) {
    return std::any_of(decision.reasons.begin(), decision.reasons.end(), [&](const reason& r) { return r.code == code; });
}

}  // namespace

TEST_CASE("every shipped policy accepts exactly the fixtures that say so") {
    const auto fixtures = adapter_fixtures();
    REQUIRE(fixtures.size() >= 40);
    for (const char* name : {"apple-metal-3", "nvidia", "any-hardware", "any"}) {
        const auto policy = shipped(name);
        for (const auto& fixture : fixtures) {
            const auto decision = judge_adapter(policy, with_plausible_probe(fixture.views));
            const bool expected = std::count(fixture.accepted_by.begin(), fixture.accepted_by.end(), name) > 0;
            const std::string why = decision.reasons.empty() ? "" : decision.reasons.front().message;
            CHECK_MESSAGE(decision.accepted == expected, (name + (": " + fixture.name) + " " + why));
            CHECK_MESSAGE(decision.accepted == decision.reasons.empty(), fixture.name);
        }
    }
}

TEST_CASE("every fixture of a software or virtual adapter is refused under its own code, whatever the policy") {
    int seen = 0;
    for (const auto& fixture : adapter_fixtures()) {
        CHECK_MESSAGE(adapter_class(fixture.views) == fixture.adapter_class, fixture.name);
        if (fixture.adapter_class != "software" && fixture.adapter_class != "virtual") continue;
        ++seen;
        for (const char* name : {"apple-metal-3", "nvidia", "any-hardware", "any"}) {
            const auto decision = judge_adapter(shipped(name), with_plausible_probe(fixture.views));
            CHECK_FALSE(decision.accepted);
            const bool named = has_code(decision, "adapter-software") || has_code(decision, "adapter-virtual") ||
                               has_code(decision, "adapter-fallback");
            CHECK_MESSAGE(named, fixture.name);
        }
    }
    CHECK(seen >= 20);
}

TEST_CASE("every fixture says where it comes from") {
    for (const auto& fixture : adapter_fixtures()) {
        const bool known = fixture.provenance == "recorded" || fixture.provenance == "constructed";
        CHECK_MESSAGE(known, fixture.name);
        CHECK_FALSE(fixture.source.empty());
    }
}

TEST_CASE("a fallback flag that is absent is not a no") {
    auto views = apple_m3();
    CHECK(judge_adapter(shipped("apple-metal-3"), views).accepted);
    views.page->is_fallback.reset();
    const auto decision = judge_adapter(shipped("apple-metal-3"), views);
    CHECK_FALSE(decision.accepted);
    CHECK(has_code(decision, "adapter-fallback-unknown"));
}

TEST_CASE("one view alone never suffices") {
    auto views = apple_m3();
    views.devtools.reset();
    CHECK(has_code(judge_adapter(shipped("apple-metal-3"), views), "adapter-devtools-view-absent"));
    views = apple_m3();
    views.devtools->devices.clear();
    CHECK(has_code(judge_adapter(shipped("apple-metal-3"), views), "adapter-devtools-view-absent"));
    views = apple_m3();
    views.page.reset();
    CHECK(has_code(judge_adapter(shipped("apple-metal-3"), views), "adapter-absent"));
}

TEST_CASE("views of different makers disagree, and the reason names both") {
    auto views = apple_m3();
    views.devtools->devices = {{0x10de, 0x2335, "NVIDIA", "H200", "NVIDIA", "580"}};
    const auto decision = judge_adapter(shipped("any-hardware"), views);
    REQUIRE_EQ(decision.reasons.size(), 1);
    CHECK_EQ(decision.reasons[0].code, "adapter-views-disagree");
    CHECK_NE(decision.reasons[0].message.find("apple"), std::string::npos);
    CHECK_NE(decision.reasons[0].message.find("nvidia"), std::string::npos);
}

TEST_CASE("a probe that is as slow as software, impossibly fast or missing is a reason") {
    auto views = apple_m3();
    for (const double rate : {0.5, 9.9e9}) {
        views.probe_gflops = rate;
        CHECK(has_code(judge_adapter(shipped("apple-metal-3"), views), "adapter-probe-implausible"));
    }
    views.probe_gflops.reset();
    CHECK(has_code(judge_adapter(shipped("apple-metal-3"), views), "adapter-probe-missing"));
}

TEST_CASE("the policy any names a software adapter and qualifies nothing") {
    const auto apple = judge_adapter(shipped("any"), apple_m3());
    REQUIRE_EQ(apple.reasons.size(), 1);
    CHECK_EQ(apple.reasons[0].code, "adapter-never-qualifies");
    auto views = apple_m3();
    views.page->vendor = "google";
    views.page->architecture = "swiftshader";
    const auto software = judge_adapter(shipped("any"), views);
    REQUIRE_FALSE(software.reasons.empty());
    CHECK_EQ(software.reasons[0].code, "adapter-software");
    CHECK_NE(software.reasons[0].message.find("swiftshader"), std::string::npos);
}

TEST_CASE("short names of renderers count as words only") {
    CHECK(software_renderer_in("D3D12 WARP"));
    CHECK_FALSE(software_renderer_in("Warpath Graphics"));
    CHECK(software_renderer_in("SwiftShader Device (Subzero)"));
    CHECK_FALSE(software_renderer_in("Apple M3 Max"));
    CHECK(virtual_device_in("QXL"));
    CHECK_FALSE(virtual_device_in("NVIDIA H200"));
    CHECK_EQ(vendor_in_text("Google Inc. (ARM)"), "arm");
    CHECK_FALSE(vendor_in_text("Charming Devices"));
}
