// The gate against this machine's real browser: however it is talked into a software adapter, no policy accepts it.
#include <doctest/doctest.h>

#include <algorithm>

#include "contract/policy.hpp"
#include "gate/adapter_policy.hpp"
#include "host_fixture.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

struct switch_set {
    std::vector<std::string> switches;  ///< beside our own; "!--name" takes one away
    bool may_give_adapter = true;       ///< false where no Chromium hands out one
};

const std::vector<switch_set>& software_switch_sets() {
    static const std::vector<switch_set> sets = {
        {{}},
        {{"--enable-unsafe-swiftshader"}},
        {{"--use-webgpu-adapter=swiftshader"}},
        {{"--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"}},
        {{"--use-angle=swiftshader"}},
        {{"--use-angle=swiftshader-webgl", "--enable-unsafe-swiftshader"}},
        {{"--use-angle=vulkan", "--enable-features=Vulkan", "--disable-vulkan-surface", "--ignore-gpu-blocklist"}},
        {{"--use-gl=angle", "--use-angle=gl"}},
        {{"--use-vulkan=swiftshader", "--enable-features=Vulkan"}},
        {{"--use-webgpu-power-preference=force-high-performance", "--ignore-gpu-blocklist"}},
        {{"--enable-features=WebGPUService,WebGPUDeveloperFeatures,WebGPUExperimentalFeatures"}},
        {{"--enable-webgpu-developer-features"}},
        {{"--in-process-gpu"}},
        {{"!--enable-unsafe-webgpu"}, false},
    };
    return sets;
}

std::vector<std::filesystem::path> installed_browsers() {
    std::vector<std::filesystem::path> found = {test_browser()};
    const std::filesystem::path chromium = "/usr/lib/chromium/chromium";
    if (found.front() != chromium && std::filesystem::exists(chromium)) found.push_back(chromium);
    return found;
}

adapter_policy shipped(const std::string& name) {
    return load_adapter_policy(std::string(ASSAY_SOURCE_DIR) + "/orchestrator/gate/policies", name,
                               policy_source::names_only)
        .value();
}

}  // namespace

TEST_CASE(
    "a live software adapter is refused under every switch set that yields one, by every policy, before and after an "
    "arm") {
    const page_site site({{"/arm/", arm_page("")}});
    std::size_t with_adapter = 0;
    for (const auto& browser : installed_browsers())
        for (const auto& set : software_switch_sets()) {
            std::string named = browser.filename().string();
            for (const auto& text : set.switches) named += " " + text;
            CAPTURE(named);
            const auto seen = visit_page(site, "/arm/", 8s, {}, set.switches, browser);
            CHECK_MESSAGE(!seen.failure, (seen.failure ? seen.failure->text() : ""));
            REQUIRE(seen.opened);
            // Some sets ask for a driver that a machine without a GPU lacks: then there is no adapter, which is refused
            // too.
            const bool gives_adapter = seen.opened->adapter.page.has_value();
            if (!set.may_give_adapter) CHECK_FALSE(gives_adapter);
            // On a machine with a GPU some sets leave the hardware in place, which other tests judge.
            if (gives_adapter && adapter_class(seen.opened->adapter) == "hardware") continue;
            if (gives_adapter) ++with_adapter;
            REQUIRE(seen.adapter);
            for (const adapter_views& views : {seen.opened->adapter, *seen.adapter}) {
                CHECK_EQ(adapter_class(views), gives_adapter ? "software" : "none");
                for (const char* policy : {"apple-metal-3", "nvidia", "any-hardware", "any"}) {
                    const auto decision = judge_adapter(shipped(policy), views);
                    CAPTURE(policy);
                    CHECK_FALSE(decision.accepted);
                    const auto code = gives_adapter ? "adapter-software" : "adapter-absent";
                    CHECK(std::any_of(decision.reasons.begin(), decision.reasons.end(),
                                      [&](const reason& why) { return why.code == code; }));
                }
            }
        }
    CHECK_GE(with_adapter, 3 * installed_browsers().size());
}
