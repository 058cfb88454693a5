#include <doctest/doctest.h>

#include "http/rate_limiter.hpp"
#include "http/token_table.hpp"
#include "server_fixture.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

struct three_tokens {
    seeded_random random{5};
    http::made_token reader = http::make_token(random), trigger = http::make_token(random),
                     admin = http::make_token(random);
    std::vector<configured_token> configured() const {
        return {{"reader", reader.sha256, {token_scope::read}},
                {"trigger", trigger.sha256, {token_scope::trigger}},
                {"admin", admin.sha256, {token_scope::admin}}};
    }
};

std::string bearer(const std::string& token) {
    return "Authorization: Bearer " + token + "\r\n";
}

constexpr std::string_view smoke = R"({"preset":"smoke","policy":"any"})";

}  // namespace

TEST_CASE("with tokens configured each operation needs its scope, and health needs none") {
    three_tokens tokens;
    http::http_server_options options;
    options.access.tokens = tokens.configured();
    server_fixture fixture(std::move(options));
    auto without = fixture.ask("GET", "/api/v1/runs");
    CHECK(without.status == 401);
    CHECK(without.headers["www-authenticate"].starts_with("Bearer"));
    CHECK(fixture.ask("GET", "/api/v1/runs", bearer("assay_wrong")).status == 401);
    CHECK(fixture.ask("GET", "/api/v1/runs", "Authorization: Basic " + tokens.admin.token + "\r\n").status == 401);
    CHECK(fixture.ask("GET", "/api/v1/runs", bearer(tokens.reader.token)).status == 200);
    CHECK(fixture.ask("GET", "/api/v1/runs", bearer(tokens.trigger.token)).status == 200);
    CHECK(fixture.ask("POST", "/api/v1/runs", bearer(tokens.reader.token), smoke).status == 403);
    CHECK(fixture.ask("POST", "/api/v1/runs", bearer(tokens.trigger.token), smoke).status == 202);
    CHECK(fixture.ask("GET", "/api/v1/undelivered", bearer(tokens.trigger.token)).status == 403);
    CHECK(fixture.ask("GET", "/api/v1/undelivered", bearer(tokens.admin.token)).status == 200);
    CHECK(fixture.ask("GET", "/healthz").status == 200);
    CHECK(fixture.ask("GET", "/metrics").status == 401);
}

TEST_CASE("reading may be left open while triggering is not") {
    three_tokens tokens;
    const http::token_table table(tokens.configured(), true);
    CHECK(table.check(std::nullopt, token_scope::read).has_value());
    CHECK(table.check(std::nullopt, token_scope::trigger).error().code == error_code::unauthorized);
    CHECK(table.check("Bearer nonsense", token_scope::read).error().code == error_code::unauthorized);
    CHECK(table.check("Bearer " + tokens.trigger.token, token_scope::trigger).value() == "trigger");
    CHECK(table.check("Bearer " + tokens.trigger.token, token_scope::agent).error().code == error_code::forbidden);
}

TEST_CASE("a made token is long, kept as a hash, and never the same twice") {
    three_tokens tokens;
    CHECK(tokens.reader.token.size() == 70);
    CHECK(tokens.reader.sha256.size() == 64);
    CHECK(tokens.reader.sha256.find(tokens.reader.token.substr(6, 20)) == std::string::npos);
    CHECK(tokens.reader.token != tokens.trigger.token);
}

TEST_CASE("an address that others can reach needs tokens") {
    http::http_server_options options;
    options.listen_address = "0.0.0.0";
    real_clock time;
    http::api_context api;
    api.time = &time;
    http::http_server open(options, api, nullptr);
    const auto refused = open.start();
    REQUIRE(!refused);
    CHECK(refused.error().code == error_code::invalid_argument);
    three_tokens tokens;
    options.access.tokens = tokens.configured();
    http::http_server guarded(options, api, nullptr);
    CHECK(guarded.start().has_value());
}

TEST_CASE("tokens are replaced while the server runs") {
    three_tokens tokens;
    http::http_server_options options;
    options.access.tokens = tokens.configured();
    server_fixture fixture(std::move(options));
    CHECK(fixture.ask("GET", "/api/v1/runs", bearer(tokens.reader.token)).status == 200);
    http::access_settings changed;
    changed.tokens = {tokens.configured()[2]};
    fixture.server->reconfigure(changed, {"assay.example"});
    CHECK(fixture.ask("GET", "/api/v1/runs", bearer(tokens.reader.token)).status == 401);
    CHECK(fixture.ask("GET", "/api/v1/runs", bearer(tokens.admin.token)).status == 200);
    http_probe named(fixture.server->port());
    named.send("GET /healthz HTTP/1.1\r\nHost: Assay.Example:443\r\n\r\n");
    CHECK(named.read_answer().status == 200);
}

TEST_CASE("a caller that asks too often is told to wait, others are not") {
    http::rate_limiter limiter(2, 3);
    std::chrono::steady_clock::time_point now{};
    for (int i = 0; i < 3; ++i) CHECK(limiter.take("a", now));
    CHECK_FALSE(limiter.take("a", now));
    CHECK(limiter.take("b", now));
    CHECK(limiter.take("a", now + 500ms));
    CHECK_FALSE(limiter.take("a", now + 600ms));
    CHECK(limiter.take("a", now + 1h));
}

TEST_CASE("many callers share a bounded number of buckets") {
    http::rate_limiter limiter(0.001, 2, 100);
    std::chrono::steady_clock::time_point now{};
    int allowed = 0;
    for (int i = 0; i < 10000; ++i) allowed += limiter.take("caller" + std::to_string(i), now) ? 1 : 0;
    CHECK(allowed < 110);
    CHECK(limiter.take("caller1", now));
}

TEST_CASE("the API answers 429 over the limit and pages are still served") {
    http::http_server_options options;
    options.access.requests_per_second = 0.01;
    options.access.request_burst = 2;
    server_fixture fixture(std::move(options));
    CHECK(fixture.ask("GET", "/api/v1/runs").status == 200);
    CHECK(fixture.ask("GET", "/api/v1/runs").status == 200);
    auto third = fixture.ask("GET", "/api/v1/runs");
    CHECK(third.status == 429);
    CHECK(third.headers.count("retry-after") == 1);
    CHECK(fixture.ask("GET", "/arm/").status == 200);
    CHECK(fixture.ask("GET", "/healthz").status == 200);
}

TEST_CASE("metrics count requests by endpoint and never by raw path") {
    server_fixture fixture;
    fixture.ask("GET", "/api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV");
    fixture.ask("GET", "/nowhere/secret-name");
    fixture.ask("GET", "/arm/");
    const auto body = fixture.ask("GET", "/metrics").body;
    CHECK(body.find("assay_http_requests_total{endpoint=\"/api/v1/runs/{id}\",method=\"GET\",status=\"4xx\"} 1") !=
          std::string::npos);
    CHECK(body.find("secret-name") == std::string::npos);
    CHECK(body.find("assay_http_static_files_total 1") != std::string::npos);
    CHECK(body.find("assay_runs{state=\"queued\"} 0") != std::string::npos);
    CHECK(body.find("process_resident_memory_bytes ") != std::string::npos);
    CHECK(fixture.ask("GET", "/readyz").body == R"({"status":"ready"})");
}

TEST_CASE("TLS: a file that is missing or no certificate is named") {
    http::http_server_options options;
    options.tls = http::tls_files{"/no/such/cert.pem", "/no/such/key.pem"};
    real_clock time;
    http::api_context api;
    api.time = &time;
    http::http_server server(options, api, nullptr);
    const auto started = server.start();
    REQUIRE(!started);
    CHECK(started.error().field == "/tls/certificate");
    CHECK(started.error().message.find("/no/such/cert.pem") != std::string::npos);
}
