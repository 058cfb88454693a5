#include "contract/arm_event.hpp"

#include <doctest/doctest.h>

#include "contract/arm.hpp"
#include "unit/contract/examples.hpp"

using namespace assay;

TEST_CASE("every valid example of an event is read") {
    const auto found = test::examples("valid", "arm-event");
    REQUIRE(found.size() >= 5);
    for (const auto& [name, text] : found) {
        const auto event = parse_arm_event(text);
        if (!event) FAIL(name << ": " << event.error().text());
    }
    const auto steps = std::get<steps_event>(parse_arm_event(found.at("arm-event.steps.json"))->body);
    CHECK(steps.phase == arm_phase::measure);
    CHECK(steps.wall_ms == std::vector<double>{137.125, 136.5});
    const auto prepared = std::get<prepared_event>(parse_arm_event(found.at("arm-event.prepared.json"))->body);
    CHECK(prepared.dispatches_per_step == 211);
    CHECK(prepared.variant.at("subgroups") == variant_value(true));
    REQUIRE(prepared.adapter.has_value());
    CHECK(prepared.adapter->is_fallback == false);
    const auto done = std::get<done_event>(parse_arm_event(found.at("arm-event.done.json"))->body);
    CHECK(done.gpu_ms == std::vector<double>{118.25, 118.5});
}

TEST_CASE("every invalid example of an event is refused with a pointer to what is wrong") {
    const std::map<std::string, std::string> pointers{
        {"unknown-event", "/event"}, {"no-sequence", "/sequence"}, {"negative-time", "/wall_ms/0"},
        {"null-loss", "/loss/0"},    {"unknown-phase", "/phase"},  {"no-steps", "/wall_ms"},
        {"unknown-key", "/note"},    {"unknown-code", "/code"},    {"short-digest", "/weights_sha256"}};
    const auto found = test::examples("invalid", "arm-event");
    CHECK(found.size() == pointers.size());
    for (const auto& [name, pointer] : pointers) {
        CAPTURE(name);
        const auto event = parse_arm_event(found.at("arm-event." + name + ".json"));
        REQUIRE_FALSE(event.has_value());
        CHECK(event.error().code == error_code::protocol_error);
        CHECK(event.error().field == pointer);
    }
}

TEST_CASE("lists of unequal length are refused, which a schema cannot say") {
    const auto wrong =
        parse_arm_event(R"({"event":"steps","sequence":2,"phase":"measure","first":0,"wall_ms":[1,2],"loss":[5]})");
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().field == "/loss");
    const auto gpu = parse_arm_event(
        R"({"event":"steps","sequence":2,"phase":"measure","first":0,"wall_ms":[1,2],"loss":[5,5],"gpu_ms":[1]})");
    REQUIRE_FALSE(gpu.has_value());
    CHECK(gpu.error().field == "/gpu_ms");
    const auto backwards =
        parse_arm_event(R"({"event":"done","sequence":3,"phase":"measure","steps":1,"gpu_ms":[-1]})");
    REQUIRE_FALSE(backwards.has_value());
    CHECK(backwards.error().field == "/gpu_ms/0");
}

TEST_CASE("an absent fallback flag stays absent: that is not false") {
    const auto reply =
        parse_facts_reply(R"({"adapter":{"vendor":"apple","architecture":"metal-3","device":"","description":""}})");
    REQUIRE(reply.has_value());
    CHECK_FALSE(reply->adapter->is_fallback.has_value());
    CHECK_FALSE(reply->page.has_value());
}

TEST_CASE("arms are known by name and kind") {
    CHECK(*arm_kind_of("wasm-simd-mt") == arm_kind::wasm);
    CHECK(*arm_kind_of("wasm64-relaxed-mt") == arm_kind::wasm);
    CHECK(*arm_kind_of("webgpu-f16") == arm_kind::webgpu);
    CHECK(*arm_kind_of("native") == arm_kind::native);
    CHECK(*arm_kind_of("external:pytorch_mps") == arm_kind::external);
    for (const char* wrong : {"", "external:", "external:../x", "webgl", "wasm"})
        CHECK_FALSE(arm_kind_of(wrong).has_value());
    CHECK(arm_is_threaded("wasm-simd-mt"));
    CHECK(arm_is_threaded("native"));
    CHECK_FALSE(arm_is_threaded("webgpu"));
    CHECK_FALSE(arm_is_threaded("wasm-simd"));
}

TEST_CASE("an arm's configuration is the text that its schema's example shows") {
    arm_config config{"webgpu", {1, 32, 16, 2, 2}, 3, 1, 42, 4};
    CHECK(
        arm_config_text(config) ==
        R"({"arm":"webgpu","corpus":{"name":"builtin"},"model":{"batch":2,"ctx":16,"d_model":32,"heads":2,"layers":1},)"
        R"("schema":"assay.arm-config/1.0","seed":"42","steps":3,"threads":4,"warmup":1})");
    config.seed = UINT64_MAX;
    config.corpus_url = "/corpus/x";
    config.corpus_sha256 = std::string(64, '3');
    config.repeat_optimizer = 4;
    const std::string text = arm_config_text(config);
    CHECK(text.find(R"("seed":"18446744073709551615")") != std::string::npos);
    CHECK(text.find(R"("url":"/corpus/x")") != std::string::npos);
    CHECK(text.find(R"("options":{"repeat_optimizer":4})") != std::string::npos);
}
