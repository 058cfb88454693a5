#include "contract/run_request.hpp"

#include <doctest/doctest.h>

#include "unit/contract/examples.hpp"

using namespace assay;

namespace {

error refusal(std::string_view text) {
    const auto parsed = parse_run_request(text);
    REQUIRE_FALSE(parsed.has_value());
    return parsed.error();
}

run_request accepted(std::string_view text) {
    auto parsed = parse_run_request(text);
    if (!parsed) FAIL(parsed.error().text());
    return *parsed;
}

}  // namespace

TEST_CASE("a request with a preset alone has the command line's defaults") {
    const run_request request = accepted(R"({"preset":"large"})");
    CHECK(request.model == model_shape{6, 192, 128, 12, 6});
    CHECK(request.steps == 20);
    CHECK(request.warmup == 3);
    CHECK(request.arms == std::vector<std::string>{"wasm-simd-mt", "webgpu"});
    CHECK(request.quadruples == quadruple_plan{});
    CHECK(request.seed == 42);
    CHECK(request.policy == "apple-metal-3");
    CHECK_FALSE(request.threads.has_value());
}

TEST_CASE("the policy that qualifies nothing implies an unqualified run, whoever asks; no other policy does") {
    CHECK(accepted(R"({"preset":"smoke","policy":"any"})").allow_unqualified);
    CHECK(accepted(R"({"preset":"smoke","policy":"any","allow_unqualified":false})").allow_unqualified);
    CHECK_FALSE(accepted(R"({"preset":"smoke","policy":"any-hardware"})").allow_unqualified);
    CHECK_FALSE(accepted(R"({"preset":"smoke"})").allow_unqualified);
}

TEST_CASE("every valid example is read, and its own text reads back as the same request") {
    const auto found = test::examples("valid", "run-request");
    REQUIRE(found.size() >= 4);
    for (const auto& [name, text] : found) {
        CAPTURE(name);
        const run_request request = accepted(text);
        CHECK(accepted(run_request_text(request)) == request);
    }
}

TEST_CASE("every invalid example is refused with a pointer to what is wrong") {
    const std::map<std::string, std::string> pointers{{"unknown-key", "/step"},
                                                      {"no-model", "/preset"},
                                                      {"both-models", "/model"},
                                                      {"unknown-preset", "/preset"},
                                                      {"zero-steps", "/steps"},
                                                      {"fractional-steps", "/steps"},
                                                      {"text-steps", "/steps"},
                                                      {"one-arm", "/arms"},
                                                      {"unknown-arm", "/arms/1"},
                                                      {"seed-not-exact", "/seed"},
                                                      {"seed-negative", "/seed"},
                                                      {"path-as-corpus", "/corpus"},
                                                      {"quadruples-word", "/quadruples"},
                                                      {"quadruples-bound", "/quadruples/auto/bound"},
                                                      {"label-control", "/label"},
                                                      {"short-nonce", "/nonce"},
                                                      {"threads-null", "/threads"},
                                                      {"not-an-object", ""}};
    const auto found = test::examples("invalid", "run-request");
    CHECK(found.size() == pointers.size());
    for (const auto& [name, pointer] : pointers) {
        CAPTURE(name);
        const auto text = found.find("run-request." + name + ".json");
        REQUIRE(text != found.end());
        const error wrong = refusal(text->second);
        CHECK(wrong.code == error_code::invalid_argument);
        CHECK(wrong.field == pointer);
        CHECK_FALSE(wrong.message.empty());
    }
}

TEST_CASE("text that is not JSON, or is JSON with a catch, is refused") {
    for (const char* text : {"", "{", "{\"preset\":\"tiny\"} x", "{\"preset\":\"tiny\",\"steps\":NaN}",
                             "{\"preset\":\"tiny\",\"steps\":1e999}", "{\"preset\":\"\xff\"}", "null"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_run_request(text).has_value());
    }
    CHECK(refusal(R"({"preset":"tiny","steps":3,"steps":4})").message.find("twice") != std::string::npos);
    const std::string deep = std::string(100000, '[') + std::string(100000, ']');
    CHECK(refusal(deep).message.find("deeper") != std::string::npos);
}

TEST_CASE("a seed keeps its 64 bits as text and is refused as a number beyond 2^53") {
    CHECK(accepted(R"({"preset":"tiny","seed":9007199254740992})").seed == 9007199254740992u);
    CHECK(accepted(R"({"preset":"tiny","seed":"18446744073709551615"})").seed == UINT64_MAX);
    CHECK(refusal(R"({"preset":"tiny","seed":9007199254740993})").message.find("2^53") != std::string::npos);
    CHECK(refusal(R"({"preset":"tiny","seed":"18446744073709551616"})").field == "/seed");
    CHECK(refusal(R"({"preset":"tiny","seed":"12 "})").field == "/seed");
}

TEST_CASE("a whole number may be written with a fraction of zero") {
    CHECK(accepted(R"({"preset":"tiny","steps":5.0})").steps == 5);
}

TEST_CASE("bounds hold on both sides") {
    run_request request;
    request.preset = "tiny";
    const auto ok = [&] { return validate(request).has_value(); };
    CHECK(ok());
    for (auto [value, good] : {std::pair{0, false}, {1, true}, {max_steps, true}, {max_steps + 1, false}}) {
        request.steps = value;
        CHECK(ok() == good);
    }
    request.steps = 20;
    for (auto [value, good] : {std::pair{-1, false}, {0, true}, {max_warmup, true}, {max_warmup + 1, false}}) {
        request.warmup = value;
        CHECK(ok() == good);
    }
    request.warmup = 3;
    for (auto [value, good] : {std::pair{0, false}, {1, true}, {max_quadruples, true}, {max_quadruples + 1, false}}) {
        request.quadruples.count = value;
        CHECK(ok() == good);
    }
    request.quadruples.count = 1;
    request.label = std::string(max_label_bytes, 'x');
    CHECK(ok());
    request.label = std::string(max_label_bytes + 1, 'x');
    CHECK_FALSE(ok());
}

TEST_CASE("a custom shape is checked for bounds and divisibility") {
    CHECK(refusal(R"({"model":{"layers":1,"d_model":30,"ctx":8,"batch":1,"heads":4}})").field == "/model/d_model");
    CHECK(refusal(R"({"model":{"layers":0,"d_model":32,"ctx":8,"batch":1,"heads":4}})").field == "/model/layers");
    CHECK(refusal(R"({"model":{"layers":1,"d_model":32,"ctx":8,"batch":1}})").field == "/model/heads");
    CHECK(accepted(R"({"model":{"layers":1,"d_model":32,"ctx":8,"batch":1,"heads":4}})").model.d_model == 32);
}

TEST_CASE("costs of the presets are those of the published table") {
    const auto gflop = [](std::string_view name) { return flops_per_step(*find_preset(name)) / 1e9; };
    CHECK(gflop("small") == doctest::Approx(2.30).epsilon(0.003));
    CHECK(gflop("medium") == doctest::Approx(8.01).epsilon(0.003));
    CHECK(gflop("large") == doctest::Approx(26.3).epsilon(0.003));
    CHECK(gflop("xl") == doctest::Approx(40.7).epsilon(0.003));
    CHECK(gflop("huge") == doctest::Approx(126.5).epsilon(0.003));
    CHECK(gflop("massive") == doctest::Approx(161).epsilon(0.003));
    CHECK(gflop("mega") == doctest::Approx(170).epsilon(0.004));
    CHECK(gflop("behemoth") == doctest::Approx(1499).epsilon(0.003));
    CHECK(parameter_count(*find_preset("behemoth")) / 1e6 == doctest::Approx(473).epsilon(0.003));
    CHECK(find_preset("gigantic").error().message.find("behemoth") != std::string::npos);
}
