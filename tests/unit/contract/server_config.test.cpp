#include "contract/server_config.hpp"

#include <doctest/doctest.h>

#include <map>

#include "examples.hpp"

using namespace assay;
using namespace assay::test;

namespace {

error error_of(std::string_view text) {
    auto parsed = parse_server_config(text);
    REQUIRE(!parsed);
    return parsed.error();
}

}  // namespace

TEST_CASE("every valid configuration of the protocol is read, every invalid one refused") {
    const auto valid = examples("valid", "server-config"), invalid = examples("invalid", "server-config");
    REQUIRE(valid.size() >= 2);
    REQUIRE(invalid.size() >= 6);
    for (const auto& [name, text] : valid) CHECK_MESSAGE(parse_server_config(text).has_value(), name);
    for (const auto& [name, text] : invalid) CHECK_MESSAGE(!parse_server_config(text).has_value(), name);
}

TEST_CASE("an unknown key of the configuration is refused by name, at any depth") {
    CHECK(error_of(R"({"lisen": "127.0.0.1:1"})").field == "/lisen");
    CHECK(error_of(R"({"tls": {"certificate": "a", "key": "b", "ciphers": "c"}})").field == "/tls/ciphers");
    CHECK(error_of(R"({"hooks": [{"command": ["a"], "shell": true}]})").field == "/hooks/0/shell");
    CHECK(error_of(R"({"webhooks": [{"url": "ftp://x", "secret": "0123456789abcdef"}]})").field == "/webhooks/0/url");
    CHECK(error_of(R"({"limits": {"body_bytes": 1}})").field == "/limits/body_bytes");
    CHECK(error_of(R"({"log": {"level": "loud"}})").field == "/log/level");
}

TEST_CASE("a secret never stands in the error about it") {
    const auto cause = error_of(R"({"webhooks": [{"url": "https://x", "secret": "tiny-secret"}]})");
    CHECK(cause.field == "/webhooks/0/secret");
    CHECK(cause.text().find("tiny-secret") == std::string::npos);
}

TEST_CASE("the environment is stronger than the file, and an empty variable is none") {
    auto config = parse_server_config(R"({"listen": "127.0.0.1:1", "store": "sqlite:///a", "labels": ["x"]})").value();
    const std::map<std::string, const char*> variables{
        {"ASSAY_LISTEN", "127.0.0.1:2"}, {"ASSAY_STORE", ""}, {"ASSAY_LABELS", "a,,b"}, {"ASSAY_ALLOWED_HOSTS", "h"}};
    const auto variable = [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second;
    };
    REQUIRE(apply_environment(config, variable).has_value());
    CHECK(config.listen == "127.0.0.1:2");
    CHECK(config.store == "sqlite:///a");
    CHECK(config.labels == std::vector<std::string>{"a", "b"});
    CHECK(config.allowed_hosts == std::vector<std::string>{"h"});
}

TEST_CASE("a log level that does not exist is refused by its variable's name") {
    server_config config;
    const auto applied = apply_environment(
        config, [](const char* name) { return std::string_view(name) == "ASSAY_LOG_LEVEL" ? "loud" : nullptr; });
    REQUIRE(!applied);
    CHECK(applied.error().field == "ASSAY_LOG_LEVEL");
}
