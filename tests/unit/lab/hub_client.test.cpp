#include "lab/hub_client.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

using namespace assay;
using namespace std::chrono_literals;
using lab::parse_hub_url;

TEST_CASE("a hub's URL gives scheme, host, port and path") {
    const auto plain = parse_hub_url("http://127.0.0.1:8080").value();
    CHECK_FALSE(plain.secure);
    CHECK(plain.host == "127.0.0.1");
    CHECK(plain.port == "8080");
    CHECK(plain.base_path.empty());
    const auto secure = parse_hub_url("https://lab.example/assay/").value();
    CHECK(secure.secure);
    CHECK(secure.port == "443");
    CHECK(secure.base_path == "/assay");
    CHECK(parse_hub_url("https://[::1]:9443").value().host == "::1");
    CHECK(parse_hub_url("https://[::1]").value().port == "443");
}

TEST_CASE("what is no hub is refused with the form that is wanted") {
    for (const char* url : {"", "lab.example", "ftp://x", "https://", "https://:80", "https://x:", "https://x:y",
                            "https://user@x", "https://x/?a"})
        CHECK(parse_hub_url(url).error().field == "--hub");
}

TEST_CASE("a hub that is not there is unavailable, at once") {
    lab::hub_client client(parse_hub_url("http://127.0.0.1:1").value(), "", {});
    CHECK(client.call_json("GET", "/healthz", {}).error().code == error_code::unavailable);
}

TEST_CASE("an interrupted client answers every call and every pause at once") {
    lab::hub_client client(parse_hub_url("http://127.0.0.1:1").value(), "", {});
    std::thread other([&client] {
        std::this_thread::sleep_for(20ms);
        client.interrupt();
    });
    const auto begun = std::chrono::steady_clock::now();
    client.pause(60s);
    other.join();
    CHECK(std::chrono::steady_clock::now() - begun < 30s);
    CHECK(client.interrupted());
    CHECK(client.call_json("GET", "/healthz", {}).error().code == error_code::cancelled);
}

TEST_CASE("the hub's problems become errors that say what can be done about them") {
    const auto error_of = [](int status) {
        return lab::error_of_answer({status, R"({"detail":"why","code":"x"})"}, "the receipt");
    };
    CHECK(error_of(409).code == error_code::conflict);
    CHECK(error_of(401).code == error_code::unauthorized);
    CHECK(error_of(503).code == error_code::unavailable);
    CHECK(error_of(500).code == error_code::unavailable);
    CHECK(error_of(409).message.find("why") != std::string::npos);
    CHECK(lab::error_of_answer({502, "<html>"}, "the receipt").code == error_code::unavailable);
}
