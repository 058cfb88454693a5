#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "contract/progress.hpp"
#include "notify/command_hook.hpp"
#include "notify/run_notifier.hpp"
#include "notify/webhook.hpp"
#include "receipt/digest.hpp"
#include "support/memory_documents.hpp"
#include "support/memory_run_store.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

TEST_CASE("HMAC-SHA256 gives the published values (RFC 4231, cases 1, 2 and 6)") {
    CHECK(hmac_sha256_hex(std::string(20, '\x0b'), "Hi There") ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(hmac_sha256_hex("Jefe", "what do ya want for nothing?") ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(hmac_sha256_hex(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("retries wait longer each time, and never over five minutes") {
    CHECK(notify::retry_pause(1) == 1s);
    CHECK(notify::retry_pause(2) == 4s);
    CHECK(notify::retry_pause(4) == 64s);
    CHECK(notify::retry_pause(5) == 256s);
    CHECK(notify::retry_pause(100) == 5min);
}

TEST_CASE("a hook's status, its signal, its absence and its limit are told apart") {
    CHECK(notify::run_command_hook({"true"}, {}, 10s, {}).value() == 0);
    CHECK(notify::run_command_hook({"sh", "-c", "exit $CODE"}, {{"CODE", "7"}}, 10s, {}).value() == 7);
    CHECK(notify::run_command_hook({"sh", "-c", "kill -9 $$"}, {}, 10s, {}).value() == 137);
    CHECK(notify::run_command_hook({"/nonexistent/program"}, {}, 10s, {}).error().code == error_code::not_found);
    CHECK(notify::run_command_hook({"sleep", "60"}, {}, 50ms, {}).error().code == error_code::deadline_exceeded);
    const auto stop = [] { return true; };
    CHECK(notify::run_command_hook({"sleep", "60"}, {}, 60s, stop).error().code == error_code::cancelled);
}

TEST_CASE("a notice that nobody takes is tried within bounds, then kept as undelivered") {
    memory_documents documents;
    memory_run_store store;
    real_clock time;
    seeded_random random{3};
    std::atomic<int> pauses{0};
    notify::notifier_services services;
    services.store = &store;
    services.documents = &documents;
    services.time = &time;
    services.random = &random;
    services.pause = [&](int) {
        ++pauses;
        return 1ms;
    };
    {
        notify::run_notifier notifier(services, {{{"http://127.0.0.1:1/", "0123456789abcdef", {}}}, {}});
        progress_state done;
        done.run = "a-run";
        done.state = "done";
        notifier.publish({"a-run", "done", progress_text(done)});
        const auto end = std::chrono::steady_clock::now() + 30s;
        while (pauses < notify::max_delivery_attempts - 1 && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(200ms);
    }
    CHECK(pauses == notify::max_delivery_attempts - 1);
    CHECK(documents.list(notify::waiting_notices).value().empty());
    const auto letters = documents.list(notify::undelivered_notices).value();
    REQUIRE(letters.size() == 1);
    const auto notice = parse_run_notice(letters.front().second).value();
    CHECK(notice.run_id == "a-run");
    CHECK(notice.attempts == notify::max_delivery_attempts);
    CHECK(letters.front().second.find("0123456789abcdef") == std::string::npos);
}

TEST_CASE("a notice that waits when the service ends is sent by the next one") {
    memory_documents documents;
    memory_run_store store;
    real_clock time;
    seeded_random random{4};
    notify::notifier_services services;
    services.store = &store;
    services.documents = &documents;
    services.time = &time;
    services.random = &random;
    services.pause = [](int) { return 1h; };
    const notify::notifier_settings settings{{{"http://127.0.0.1:1/", "0123456789abcdef", {}}}, {}};
    const auto attempts_kept = [&] {
        const auto waiting = documents.list(notify::waiting_notices).value();
        return waiting.size() == 1 ? parse_run_notice(waiting.front().second).value().attempts : -1;
    };
    for (int process = 1; process <= 2; ++process) {
        notify::run_notifier notifier(services, settings);
        if (process == 1) {
            progress_state done;
            done.run = "a-run";
            done.state = "done";
            notifier.publish({"a-run", "done", progress_text(done)});
        }
        std::this_thread::sleep_for(500ms);
    }
    CHECK(attempts_kept() == 2);
}
