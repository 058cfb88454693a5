#include "receipt/digest.hpp"

#include <doctest/doctest.h>

using namespace assay;

TEST_CASE("SHA-256 gives the published digests") {
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("base 64 round-trips and refuses every other spelling of the same bytes") {
    // The vectors of RFC 4648, section 10.
    const std::pair<const char*, const char*> vectors[] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
    for (const auto& [bytes, text] : vectors) {
        CHECK(base64(bytes) == text);
        CHECK(decode_base64(text).value() == bytes);
    }
    for (const char* text : {"Zh==", "Zm9=", "Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zm9v\n", "Zm 9", "Zm-_"})
        CHECK_FALSE(decode_base64(text).has_value());
}

TEST_CASE("a digest in hexadecimal is 64 lower-case digits") {
    CHECK(is_sha256_hex(sha256_hex("x")));
    CHECK_FALSE(is_sha256_hex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"));
    CHECK_FALSE(is_sha256_hex("ba78"));
}

TEST_CASE("comparison in constant time answers as plain comparison does") {
    CHECK(equal_in_constant_time("token", "token"));
    CHECK_FALSE(equal_in_constant_time("token", "tokeN"));
    CHECK_FALSE(equal_in_constant_time("token", "token2"));
}
