#include "client/http_client.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

using namespace assay;
using namespace std::chrono_literals;
using client::parse_url;

TEST_CASE("a URL gives scheme, host, port and what to ask for") {
    const auto plain = parse_url("http://127.0.0.1:8080/hook?from=assay", "--server").value();
    CHECK_FALSE(plain.secure);
    CHECK(plain.authority() == "127.0.0.1:8080");
    CHECK(plain.target == "/hook?from=assay");
    CHECK(parse_url("https://example.org?x=1", "").value().target == "/?x=1");
    const auto v6 = parse_url("https://[::1]:9443", "").value();
    CHECK(v6.host == "::1");
    CHECK(v6.authority() == "[::1]:9443");
    CHECK(parse_url("https://example.org", "").value().authority() == "example.org");
}

TEST_CASE("a URL that could smuggle something is refused by the flag's name") {
    for (const char* url : {"", "example.org", "http://", "http://user@x", "http://x/#f", "http://x:99999999", "http://x/a b",
                            "http://x/\r\nHost: y", "http://x:y", "file:///etc/passwd"})
        CHECK_MESSAGE(parse_url(url, "--server").error().field == "--server", url);
}

TEST_CASE("a server that is not there is unavailable, and its address is named") {
    client::http_client asked(parse_url("http://127.0.0.1:1", "").value(), "secret-token", {});
    const auto answer = asked.call({"GET", "/healthz"}, 10s);
    REQUIRE(!answer);
    CHECK(answer.error().code == error_code::unavailable);
    CHECK(answer.error().text().find("127.0.0.1:1") != std::string::npos);
    CHECK(answer.error().text().find("secret-token") == std::string::npos);
}

TEST_CASE("an interrupted client answers every call as cancelled") {
    client::http_client asked(parse_url("http://127.0.0.1:1", "").value(), "", {});
    asked.interrupt();
    CHECK(asked.call({"GET", "/"}, 10s).error().code == error_code::cancelled);
}
