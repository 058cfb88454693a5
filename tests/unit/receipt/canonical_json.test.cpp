#include "receipt/canonical_json.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <string>

using namespace assay;

namespace {

std::string canonical(std::string_view text) {
    return canonicalise_json(text).value();
}
bool refused(std::string_view text) {
    return !canonicalise_json(text);
}

}  // namespace

TEST_CASE("the RFC 8785 example of section 3.2.2 comes out as printed there") {
    const std::string input = R"({
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
      })";
    CHECK(canonical(input) ==
          "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
          "\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST_CASE("keys are sorted by UTF-16 code units as in RFC 8785 section 3.2.3") {
    const std::string input = R"({
        "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"})";
    CHECK(
        canonical(input) ==
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"\u00f6\":\"Latin Small Letter O With "
        "Diaeresis\",\"\u20ac\":\"Euro Sign\",\"\U0001f600\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet "
        "With Dagesh\"}");
}

TEST_CASE("numbers are written as RFC 8785 appendix B lists them") {
    struct sample {
        std::uint64_t bits;
        const char* text;
    };
    const sample samples[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (const auto& [bits, text] : samples) CHECK(ecmascript_number(std::bit_cast<double>(bits)) == text);
}

TEST_CASE("canonical text is its own canonical form") {
    const std::string once = canonical(R"({"b":[1.0,-0,1e2,{"z":"\u00e9","a":[]}],"a":{}})");
    CHECK(once == R"({"a":{},"b":[1,0,100,{"a":[],"z":"é"}]})");
    CHECK(canonical(once) == once);
}

TEST_CASE("text that is not strict JSON is refused") {
    for (const char* text : {"",
                             " ",
                             "{",
                             "[1,]",
                             "{\"a\":1,}",
                             "{a:1}",
                             "01",
                             "1.",
                             ".5",
                             "+1",
                             "1e",
                             "-",
                             "nul",
                             "NaN",
                             "Infinity",
                             "'a'",
                             "\"a",
                             "\"\\x\"",
                             "\"\\u12g4\"",
                             "[1] 2",
                             "\"\t\"",
                             "\xef\xbb\xbf{}",
                             "1e400"})
        CHECK_MESSAGE(refused(text), text);
}

TEST_CASE("a key that occurs twice is refused, however it is written") {
    CHECK(refused(R"({"a":1,"a":2})"));
    CHECK(refused(R"({"a":1,"\u0061":2})"));
}

TEST_CASE("bytes that are not UTF-8 and lone surrogates are refused") {
    for (const char* text : {"\"\xff\"", "\"\xc0\xaf\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
                             "\"\xc3\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\""})
        CHECK(refused(text));
    CHECK(canonical("\"\\ud83d\\ude00\"") == "\"\U0001f600\"");
}

TEST_CASE("nesting is bounded") {
    const std::string deep_enough = std::string(max_json_depth, '[') + std::string(max_json_depth, ']');
    CHECK(canonical(deep_enough) == deep_enough);
    CHECK(refused("[" + deep_enough + "]"));
    CHECK(refused(std::string(1000000, '[')));
}

TEST_CASE("a number too small for a double becomes zero, as ECMAScript reads it") {
    CHECK(canonical("[1e-400]") == "[0]");
}
