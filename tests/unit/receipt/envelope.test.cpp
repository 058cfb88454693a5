#include "receipt/envelope.hpp"

#include <doctest/doctest.h>

#include "core/random.hpp"
#include "receipt/canonical_json.hpp"
#include "receipt/digest.hpp"

using namespace assay;

namespace {

const std::string receipt_json =
    R"({"schema":"assay.receipt/1.0","id":"01KC000000000000000000000A","analysis":{"speedup":10.67},
    "arms":[{"arm":"wasm-simd-mt","steps":[{"wall_ms":1462.5,"loss":5.5451774}]},{"arm":"webgpu","errors":["é \" \\ \n"]}]})";

signing_key key_of(char fill) {
    return signing_key::from_seed(std::string(32, fill)).value();
}

}  // namespace

TEST_CASE("a sealed receipt opens to its canonical text, id and signer") {
    const auto key = key_of('k');
    const std::string file = seal(receipt_json, key).value();
    const auto opened = open_envelope(file);
    REQUIRE(opened.has_value());
    CHECK(opened->receipt_text == canonicalise_json(receipt_json).value());
    CHECK(opened->receipt_id == "01KC000000000000000000000A");
    CHECK(opened->signer.id() == key.public_half().id());
    CHECK(opened->file_sha256 == sha256_hex(file));
}

TEST_CASE("sealing the same receipt twice gives the same bytes") {
    CHECK(seal(receipt_json, key_of('k')).value() == seal(receipt_json, key_of('k')).value());
}

TEST_CASE("no file with one changed byte opens, in ten thousand random changes") {
    const std::string file = seal(receipt_json, key_of('k')).value();
    seeded_random random(6);
    int opened = 0;
    for (int change = 0; change < 10000; ++change) {
        std::string changed = file;
        const auto at = random.below(changed.size());
        changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) + 1 + random.below(255));
        if (open_envelope(changed)) ++opened;
    }
    CHECK(opened == 0);
}

TEST_CASE("no file with a byte added or taken away opens") {
    const std::string file = seal(receipt_json, key_of('k')).value();
    for (std::size_t at = 0; at <= file.size(); at += 7) {
        CHECK_FALSE(open_envelope(file.substr(0, at) + " " + file.substr(at)).has_value());
        if (at < file.size()) CHECK_FALSE(open_envelope(file.substr(0, at) + file.substr(at + 1)).has_value());
    }
    CHECK_FALSE(open_envelope(file + "\n").has_value());
    CHECK_FALSE(open_envelope("").has_value());
}

TEST_CASE("another key's signature over the same receipt does not pass as the first key's") {
    const std::string file = seal(receipt_json, key_of('k')).value();
    const std::string other = seal(receipt_json, key_of('o')).value();
    const auto tail = [](const std::string& text) { return text.find("\"signatures\""); };
    CHECK(open_envelope(file.substr(0, tail(file)) + other.substr(tail(other)))->signer.id() ==
          key_of('o').public_half().id());
    std::string mixed = file;
    const std::string key_text = base64(key_of('k').public_half().bytes()),
                      other_text = base64(key_of('o').public_half().bytes());
    mixed.replace(mixed.find(key_text), key_text.size(), other_text);
    CHECK(open_envelope(mixed).error().code == error_code::signature_invalid);
}

TEST_CASE("a receipt without an id, or that is no JSON object, is not sealed") {
    for (const char* text : {"{}", "[]", "{\"id\":3}", "{\"id\":\"\"}", "nonsense"})
        CHECK(seal(text, key_of('k')).error().code == error_code::invalid_argument);
}

TEST_CASE("an integer that its canonical form would round is not sealed") {
    CHECK_FALSE(seal(R"({"id":"x","seed":9007199254740993})", key_of('k')).has_value());
    CHECK_FALSE(seal(R"({"id":"x","seed":18446744073709551615})", key_of('k')).has_value());
    CHECK(seal(R"({"id":"x","seed":9007199254740991,"text":"18446744073709551615","real":1e300})", key_of('k'))
              .has_value());
}

TEST_CASE("the signed bytes are DSSE's pre-authentication encoding") {
    // The test vector of the DSSE protocol document.
    CHECK(pre_authentication_encoding("http://example.com/HelloWorld", "hello world") ==
          "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}
