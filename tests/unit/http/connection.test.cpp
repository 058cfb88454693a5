#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "server_fixture.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

http::http_server_options short_limits() {
    http::http_server_options options;
    options.limits.idle = 300ms;
    options.limits.header = 300ms;
    options.limits.body = 300ms;
    options.limits.write = 500ms;
    options.limits.body_bytes = 4096;
    options.limits.header_bytes = 2048;
    options.limits.event_poll = 10ms;
    return options;
}

}  // namespace

TEST_CASE("a connection serves one request after another, pipelined ones too") {
    server_fixture fixture;
    http_probe probe(fixture.server->port());
    CHECK(probe.ask("GET", "/healthz").status == 200);
    CHECK(probe.ask("GET", "/shaders/gemm.wgsl").body == "// gemm");
    const std::string one = "GET /shaders/gemm.wgsl HTTP/1.1\r\nHost: localhost\r\n\r\n";
    probe.send(one + one + one);
    for (int i = 0; i < 3; ++i) CHECK(probe.read_answer().body == "// gemm");
    probe.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    CHECK(probe.read_answer().headers["connection"] == "close");
    CHECK(probe.closed_by_peer());
}

TEST_CASE("a body over the limit is refused with 413 before it is read, and the answer arrives") {
    server_fixture fixture(short_limits());
    http_probe probe(fixture.server->port());
    probe.send("POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 104857600\r\n\r\n" +
               std::string(100000, ' '));
    auto answer = probe.read_answer();
    CHECK(answer.status == 413);
    CHECK(answer.headers["content-type"] == "application/problem+json");
    CHECK(probe.closed_by_peer());
}

TEST_CASE("a chunked body over the limit is refused too, and a fitting one is taken") {
    server_fixture fixture(short_limits());
    const std::string head =
        "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
        "chunked\r\n\r\n";
    http_probe large(fixture.server->port());
    large.send(head + "2000\r\n" + std::string(0x2000, ' ') + "\r\n0\r\n\r\n");
    CHECK(large.read_answer().status == 413);
    http_probe fitting(fixture.server->port());
    fitting.send(head + "10\r\n{\"preset\":\"smoke\r\n2\r\n\"}\r\n0\r\n\r\n");
    CHECK(fitting.read_answer().status == 202);
}

TEST_CASE("a chunked body that is cut or malformed never reaches a handler") {
    server_fixture fixture(short_limits());
    const std::string head = "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    http_probe cut(fixture.server->port());
    cut.send(head + "10\r\n{\"pre");
    cut.finish_sending();
    CHECK(cut.read_answer().status == 0);
    http_probe malformed(fixture.server->port());
    malformed.send(head + "zz\r\n{}\r\n0\r\n\r\n");
    CHECK(malformed.read_answer().status == 400);
    CHECK(fixture.store.runs.empty());
}

TEST_CASE("headers over the limit are refused with 431") {
    server_fixture fixture(short_limits());
    http_probe probe(fixture.server->port());
    probe.send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + std::string(5000, 'x') + "\r\n\r\n");
    CHECK(probe.read_answer().status == 431);
}

TEST_CASE("what is not HTTP is refused and cut") {
    server_fixture fixture(short_limits());
    for (const std::string bytes :
         {std::string("\x16\x03\x01\x02garbage\r\n\r\n", 16), std::string("GET / HTTP/9.9\r\nHost: x\r\n\r\n"),
          std::string("GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", 38),
          std::string("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
          std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")}) {
        http_probe probe(fixture.server->port());
        probe.send(bytes);
        const auto status = probe.read_answer().status;
        CHECK((status == 400 || status == 505));
        CHECK(probe.closed_by_peer());
    }
    CHECK(fixture.ask("GET", "/healthz").status == 200);
}

TEST_CASE("invalid UTF-8 in the body is a bad request") {
    server_fixture fixture;
    CHECK(fixture.ask("POST", "/api/v1/runs", {}, "{\"label\":\"\xff\xfe\",\"preset\":\"smoke\"}").status == 400);
}

TEST_CASE("slow clients are cut: no request, half a head, half a body") {
    server_fixture fixture(short_limits());
    for (const std::string bytes : {"", "GET / HTTP/1.1\r\nHost: loc",
                                    "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"}) {
        http_probe probe(fixture.server->port());
        probe.send(bytes);
        const auto begin = std::chrono::steady_clock::now();
        CHECK(probe.closed_by_peer());
        CHECK(std::chrono::steady_clock::now() - begin < 3s);
    }
}

TEST_CASE("one byte at a time does not lengthen the head's deadline") {
    server_fixture fixture(short_limits());
    http_probe probe(fixture.server->port());
    bool open = true;
    for (int i = 0; i < 100 && open; ++i) {
        open = probe.send("G");
        std::this_thread::sleep_for(20ms);
    }
    CHECK_FALSE(open);
}

TEST_CASE("a name that is not the server's is refused, against DNS rebinding") {
    server_fixture fixture;
    const auto with_host = [&](const std::string& host) {
        http_probe probe(fixture.server->port());
        probe.send("GET /api/v1/runs HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        return probe.read_answer().status;
    };
    CHECK(with_host("evil.example") == 421);
    CHECK(with_host("127.0.0.1.evil.example:80") == 421);
    CHECK(with_host("localhost:1234") == 200);
    CHECK(with_host("[::1]:80") == 200);
    http_probe nameless(fixture.server->port());
    nameless.send("GET /api/v1/runs HTTP/1.1\r\n\r\n");
    CHECK(nameless.read_answer().status == 400);
}

TEST_CASE("a page of another site cannot start a run") {
    server_fixture fixture;
    const std::string body = R"({"preset":"smoke"})";
    CHECK(fixture.ask("POST", "/api/v1/runs", "Origin: http://evil.example\r\n", body).status == 403);
    CHECK(fixture.ask("POST", "/api/v1/runs", "Origin: null\r\n", body).status == 403);
    CHECK(fixture.ask("POST", "/api/v1/runs", "Origin: http://127.0.0.1\r\n", body).status == 202);
    http_probe form(fixture.server->port());
    form.send(
        "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
    CHECK(form.read_answer().status == 415);
}

TEST_CASE("a handler that throws answers 500 without its words, and the server lives on") {
    http::http_server_options options;
    http_endpoint broken{.method = "GET", .pattern = "/broken", .scope = token_scope::none};
    broken.blocking = [](const http_request&) -> http_response { throw std::runtime_error("secret detail"); };
    options.endpoints.push_back(broken);
    server_fixture fixture(std::move(options));
    const auto answer = fixture.ask("GET", "/broken");
    CHECK(answer.status == 500);
    CHECK(answer.body.find("secret") == std::string::npos);
    CHECK(fixture.ask("GET", "/healthz").status == 200);
}

TEST_CASE("a long poll answers from another thread, or with 504 when nobody does") {
    http::http_server_options options;
    options.limits.deferred = 200ms;
    std::thread answering;
    http_endpoint late{.method = "GET", .pattern = "/late/{name}", .scope = token_scope::none};
    late.deferred = [&](http_request request, respond_function respond) {
        answering = std::thread([respond, name = std::string(request.capture("name"))] {
            http_response response;
            response.body = "\"" + name + "\"";
            respond(std::move(response));
        });
    };
    http_endpoint never{.method = "GET", .pattern = "/never", .scope = token_scope::none};
    never.deferred = [](http_request, respond_function) {};
    options.endpoints = {late, never};
    server_fixture fixture(std::move(options));
    CHECK(fixture.ask("GET", "/late/owl").body == "\"owl\"");
    answering.join();
    CHECK(fixture.ask("GET", "/never").status == 504);
}

TEST_CASE("stopping closes idle connections and frees every descriptor") {
    const auto open_descriptors = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                             std::filesystem::directory_iterator());
    };
    const auto before = open_descriptors();
    {
        server_fixture fixture;
        http_probe idle(fixture.server->port()), half(fixture.server->port());
        CHECK(idle.ask("GET", "/healthz").status == 200);
        half.send("GET / HT");
        const auto begin = std::chrono::steady_clock::now();
        fixture.server->stop();
        CHECK(std::chrono::steady_clock::now() - begin < 8s);
        CHECK(idle.closed_by_peer());
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("a port in use is an error that names it") {
    server_fixture fixture;
    http::http_server_options options;
    options.port = fixture.server->port();
    http::api_context api;
    api.time = &fixture.time;
    http::http_server second(options, api, nullptr);
    const auto started = second.start();
    REQUIRE(!started);
    CHECK(started.error().message.find(std::to_string(options.port)) != std::string::npos);
}
