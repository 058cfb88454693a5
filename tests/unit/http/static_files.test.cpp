#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "receipt/digest.hpp"
#include "server_fixture.hpp"

using namespace assay;
using namespace assay::test;

TEST_CASE("every served page is cross-origin isolated and has a strict content policy") {
    server_fixture fixture;
    for (const std::string path :
         {"/", "/arm/", "/playground/", "/receipts/01J/steps", "/shaders/gemm.wgsl", "/healthz", "/nowhere"}) {
        CAPTURE(path);
        auto answer = fixture.ask("GET", path);
        CHECK(answer.headers["cross-origin-opener-policy"] == "same-origin");
        CHECK(answer.headers["cross-origin-embedder-policy"] == "require-corp");
        CHECK(answer.headers["cross-origin-resource-policy"] == "same-origin");
        CHECK(answer.headers["x-content-type-options"] == "nosniff");
        CHECK(answer.headers["content-security-policy"].starts_with(
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"));
    }
}

TEST_CASE("files carry the types that browsers insist on") {
    server_fixture fixture;
    CHECK(fixture.ask("GET", "/wasm/trainer.wasm").headers["content-type"] == "application/wasm");
    CHECK(fixture.ask("GET", "/arm/module.mjs").headers["content-type"] == "text/javascript; charset=utf-8");
    CHECK(fixture.ask("GET", "/shaders/gemm.wgsl").headers["content-type"] == "text/wgsl; charset=utf-8");
    CHECK(fixture.ask("GET", "/arm/").headers["content-type"] == "text/html; charset=utf-8");
}

TEST_CASE("the dashboard's own paths answer with its page, and unknown ones with a problem") {
    server_fixture fixture;
    for (const std::string path :
         {"/", "/receipts/01JABC", "/runs/7", "/compare", "/curve", "/trends", "/schedules", "/machines", "/run"})
        CHECK(fixture.ask("GET", path).body.find("dashboard") != std::string::npos);
    auto missing = fixture.ask("GET", "/receiptsX");
    CHECK(missing.status == 404);
    CHECK(missing.headers["content-type"] == "application/problem+json");
}

TEST_CASE("a folder without its slash redirects, so that relative addresses of the page hold") {
    server_fixture fixture;
    auto answer = fixture.ask("GET", "/playground");
    CHECK(answer.status == 301);
    CHECK(answer.headers["location"] == "/playground/");
}

TEST_CASE("the entity tag is the content's SHA-256, and an unchanged file is not sent again") {
    server_fixture fixture;
    auto first = fixture.ask("GET", "/shaders/gemm.wgsl");
    CHECK(first.headers["etag"] == "\"" + sha256_hex("// gemm") + "\"");
    auto second =
        fixture.ask("GET", "/shaders/gemm.wgsl", "If-None-Match: \"other\", " + first.headers["etag"] + "\r\n");
    CHECK(second.status == 304);
    CHECK(second.body.empty());
    CHECK(fixture.ask("GET", "/shaders/gemm.wgsl", "If-None-Match: \"other\"\r\n").status == 200);
}

TEST_CASE("compressible files go out as gzip only to callers that accept it, under a tag of their own") {
    server_fixture fixture;
    auto plain = fixture.ask("GET", "/dashboard/assets/main.js");
    auto small = fixture.ask("GET", "/dashboard/assets/main.js", "Accept-Encoding: br, gzip;q=0.8\r\n");
    auto refused = fixture.ask("GET", "/dashboard/assets/main.js", "Accept-Encoding: gzip;q=0\r\n");
    CHECK(plain.body.size() == 5000);
    CHECK(small.headers["content-encoding"] == "gzip");
    CHECK(small.body.size() < 200);
    CHECK(small.headers["etag"] != plain.headers["etag"]);
    CHECK(small.headers["vary"] == "Accept-Encoding");
    CHECK(refused.body.size() == 5000);
}

TEST_CASE("HEAD gives the same head and no body") {
    server_fixture fixture;
    http_probe probe(fixture.server->port());
    auto head = probe.ask("HEAD", "/shaders/gemm.wgsl");
    CHECK(head.status == 200);
    CHECK(head.headers["content-length"] == "7");
    CHECK(probe.ask("GET", "/shaders/gemm.wgsl").body == "// gemm");
}

TEST_CASE("no path leaves the served folder") {
    server_fixture fixture;
    for (const std::string path :
         {"/../secret.txt", "/arm/../../secret.txt", "/%2e%2e/secret.txt", "/arm/%2e%2e/%2e%2e/secret.txt",
          "/..%2fsecret.txt", "/arm/..%5c..%5csecret.txt", "//secret.txt", "/arm/%00", "/%c0%ae%c0%ae/secret.txt"}) {
        CAPTURE(path);
        const auto answer = fixture.ask("GET", path);
        CHECK((answer.status == 400 || answer.status == 404));
        CHECK(answer.body.find("not served") == std::string::npos);
    }
}

TEST_CASE("a link that points out of the served folder is not served") {
    temporary_folder folder;
    write_file(folder.path() / "web/a.txt", "in");
    write_file(folder.path() / "out.txt", "out");
    std::filesystem::create_symlink(folder.path() / "out.txt", folder.path() / "web/b.txt");
    const auto files = http::static_files::load({{"/", folder.path() / "web"}}).value();
    CHECK(files->find("/a.txt"));
    CHECK_FALSE(files->find("/b.txt"));
}

TEST_CASE("asset digests name what an arm may load, and not the dashboard") {
    server_fixture fixture;
    const auto digests = fixture.server->asset_digests();
    bool shader = false;
    for (const auto& [path, digest] : digests) {
        shader = shader || (path == "/shaders/gemm.wgsl" && digest == sha256_hex("// gemm"));
        CHECK(path.find("dashboard") == std::string::npos);
    }
    CHECK(shader);
}

TEST_CASE("a published corpus is served at its digest") {
    server_fixture fixture;
    const auto path =
        fixture.server->publish_corpus(std::make_shared<const std::string>("to be or not"), sha256_hex("to be or not"));
    CHECK(path == "/corpus/" + sha256_hex("to be or not"));
    CHECK(fixture.ask("GET", path).body == "to be or not");
    CHECK(fixture.ask("GET", "/corpus/" + sha256_hex("other")).status == 404);
}

TEST_CASE("a missing served folder is named") {
    const auto loaded = http::static_files::load({{"/", "/no/such/folder"}});
    REQUIRE(!loaded);
    CHECK(loaded.error().message.find("/no/such/folder") != std::string::npos);
}

TEST_CASE("a large file arrives whole though its reader is slow, and the connection goes on") {
    server_fixture fixture;
    std::string large;
    for (int i = 0; large.size() < 5'000'000; ++i) large += std::to_string(i) + ",";
    const auto path = fixture.server->publish_corpus(std::make_shared<const std::string>(large), sha256_hex(large));
    http_probe probe(fixture.server->port());
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    probe.send(request + "HEAD " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + request);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the socket's buffer is full by then
    CHECK(probe.read_answer().body == large);
    auto head = probe.read_answer(true);
    CHECK(head.headers["content-length"] == std::to_string(large.size()));
    CHECK(probe.read_answer().body == large);
}
