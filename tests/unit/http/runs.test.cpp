#include <doctest/doctest.h>

#include "server_fixture.hpp"

using namespace assay;
using namespace assay::test;

namespace {

constexpr std::string_view smoke = R"({"preset":"smoke","policy":"any"})";

std::string field(const std::string& json, const std::string& name) {
    const auto at = json.find("\"" + name + "\":\"");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return json.substr(begin, json.find('"', begin) - begin);
}

}  // namespace

TEST_CASE("a run asked for is queued, located and told to the queue") {
    server_fixture fixture;
    auto answer = fixture.ask("POST", "/api/v1/runs", {}, smoke);
    CHECK(answer.status == 202);
    const auto id = field(answer.body, "id");
    CHECK(field(answer.body, "state") == "queued");
    CHECK(answer.headers["location"] == "/api/v1/runs/" + id);
    CHECK(fixture.runs.queued == std::vector<std::string>{id});
    const auto run = fixture.ask("GET", "/api/v1/runs/" + id);
    CHECK(run.status == 200);
    CHECK(run.body.find("\"preset\":\"smoke\"") != std::string::npos);
}

TEST_CASE("the same idempotency key gives the same run once, and with another request a conflict") {
    server_fixture fixture;
    const auto first = fixture.ask("POST", "/api/v1/runs", "Idempotency-Key: nightly-7\r\n", smoke);
    const auto again = fixture.ask("POST", "/api/v1/runs", "Idempotency-Key: nightly-7\r\n", smoke);
    const auto other = fixture.ask("POST", "/api/v1/runs", "Idempotency-Key: nightly-7\r\n", R"({"preset":"tiny"})");
    CHECK(first.status == 202);
    CHECK(again.body == first.body);
    CHECK(other.status == 409);
    CHECK(fixture.runs.queued.size() == 1);
}

TEST_CASE("every question gets a nonce of its own, but for one that brings its own or is asked again by its key") {
    server_fixture fixture;
    const auto nonce_of = [&](const std::string& headers, std::string_view body) {
        const auto id = field(fixture.ask("POST", "/api/v1/runs", headers, body).body, "id");
        return field(fixture.ask("GET", "/api/v1/runs/" + id).body, "nonce");
    };
    const auto first = nonce_of({}, smoke);
    CHECK(first.size() == 32);
    CHECK(nonce_of({}, smoke) != first);
    CHECK(nonce_of({}, R"({"preset":"smoke","nonce":"asked-by-the-caller"})") == "asked-by-the-caller");
    CHECK(nonce_of("Idempotency-Key: nightly-8\r\n", smoke).empty());
}

TEST_CASE("a wrong field is pointed at by a problem document") {
    server_fixture fixture;
    auto answer = fixture.ask("POST", "/api/v1/runs", {}, R"({"preset":"smoke","steps":0})");
    CHECK(answer.status == 400);
    CHECK(answer.headers["content-type"] == "application/problem+json");
    CHECK(field(answer.body, "pointer") == "/steps");
    CHECK(fixture.ask("POST", "/api/v1/runs", {}, R"({"preset":"gigantic"})").body.find("\"pointer\":\"/preset\"") !=
          std::string::npos);
    CHECK(fixture.ask("POST", "/api/v1/runs", {}, R"({"colour":1})").status == 400);
    CHECK(fixture.ask("POST", "/api/v1/runs", {}, "{nonsense").status == 400);
    CHECK(fixture.ask("POST", "/api/v1/runs", {}, std::string(100000, '[')).status == 400);
}

TEST_CASE("a queued run is cancelled at once") {
    server_fixture fixture;
    const auto id = field(fixture.ask("POST", "/api/v1/runs", {}, smoke).body, "id");
    const auto answer = fixture.ask("DELETE", "/api/v1/runs/" + id);
    CHECK(answer.status == 200);
    CHECK(field(answer.body, "state") == "cancelled");
    CHECK(fixture.runs.cancelled == std::vector<std::string>{id});
}

TEST_CASE("runs that do not exist, and receipts that do not exist yet, are 404") {
    server_fixture fixture;
    CHECK(fixture.ask("GET", "/api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV").status == 404);
    CHECK(fixture.ask("GET", "/api/v1/runs/'%20OR%201=1").status == 404);
    const auto id = field(fixture.ask("POST", "/api/v1/runs", {}, smoke).body, "id");
    const auto receipt = fixture.ask("GET", "/api/v1/runs/" + id + "/receipt");
    CHECK(receipt.status == 404);
    CHECK(receipt.body.find("has no receipt yet") != std::string::npos);
}

TEST_CASE("lists are filtered, paged and refuse unknown fields") {
    server_fixture fixture;
    for (int i = 0; i < 3; ++i) fixture.ask("POST", "/api/v1/runs", {}, smoke);
    const auto first = fixture.ask("GET", "/api/v1/runs?limit=2&state=queued");
    const auto next = field(first.body, "next");
    CHECK_FALSE(next.empty());
    const auto second = fixture.ask("GET", "/api/v1/runs?limit=2&cursor=" + next);
    CHECK(field(second.body, "next").empty());
    CHECK(fixture.ask("GET", "/api/v1/runs?limit=0").body.find("\"pointer\":\"?limit\"") != std::string::npos);
    CHECK(fixture.ask("GET", "/api/v1/runs?state=asleep").status == 400);
    CHECK(fixture.ask("GET", "/api/v1/runs?colour=red").status == 400);
    CHECK(fixture.ask("GET", "/api/v1/receipts?since=yesterday").status == 400);
}

TEST_CASE("a receipt is served byte by byte as it was signed, and not again when unchanged") {
    server_fixture fixture;
    receipt_summary summary;
    summary.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    summary.preset = "smoke";
    summary.speedup = 2.5;
    fixture.store.add_receipt(summary, "{\"payload\":\"signed\"}").value();
    auto file = fixture.ask("GET", "/api/v1/receipts/" + summary.id);
    CHECK(file.body == "{\"payload\":\"signed\"}");
    CHECK(fixture.ask("GET", "/api/v1/receipts/" + summary.id, "If-None-Match: " + file.headers["etag"] + "\r\n")
              .status == 304);
    const auto list = fixture.ask("GET", "/api/v1/receipts?preset=smoke");
    CHECK(list.body.find("\"speedup\":2.5") != std::string::npos);
    CHECK(fixture.ask("GET", "/api/v1/receipts?preset=tiny").body == "{\"receipts\":[]}");
    CHECK(fixture.ask("GET", "/api/v1/receipts/" + summary.id + "?view=inside-out").status == 400);
    CHECK(fixture.ask("GET", "/api/v1/receipts/" + summary.id + "?view=inner").status == 500);
}

TEST_CASE("methods that a path lacks are refused with those it has") {
    server_fixture fixture;
    auto refused = fixture.ask("PUT", "/api/v1/runs", {}, smoke);
    CHECK(refused.status == 405);
    CHECK(refused.headers["allow"] == "POST, GET, HEAD, OPTIONS");
    auto options = fixture.ask("OPTIONS", "/api/v1/runs");
    CHECK(options.status == 204);
    CHECK(options.headers["allow"] == "POST, GET, HEAD, OPTIONS");
    CHECK(fixture.ask("HEAD", "/api/v1/runs").status == 200);
    CHECK(fixture.ask("GET", "/healthz").body == R"({"status":"ok","version":"0.1.0"})");
}
