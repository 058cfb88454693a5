// Arms that are commands: shell scripts stand for the trainers of others.
#include "browser/command_host.hpp"

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>

#include "run_task.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* ready = R"(echo '{"event":"ready","sequence":0,"arms":["native"]}'; cat > /dev/null;)";
constexpr const char* prepared =
    R"(d=$(printf '%064d' 0); echo "{\"event\":\"prepared\",\"sequence\":1,\"arm\":\"native\",\"threads\":1,\"weights_sha256\":\"$d\",\"batches_sha256\":\"$d\",\"corpus_sha256\":\"$d\",\"parameters\":5,\"cold_start\":{},\"wait\":\"synchronous\",\"variant\":{}}";)";
constexpr const char* phases =
    R"(echo '{"event":"done","sequence":2,"phase":"warmup","steps":0}'
       echo '{"event":"steps","sequence":3,"phase":"measure","first":0,"wall_ms":[1,2],"loss":[5,4]}'
       echo '{"event":"done","sequence":4,"phase":"measure","steps":2}')";

struct outcome {
    std::optional<error> failure;
    int events = 0;
    bool adapter_asked = false;
    arm_closed closed;
};

task<result<void>> run_command(arm_host* host, outcome* seen) {
    auto opened = co_await host->open();
    if (!opened) co_return opened.error();
    arm_config config;
    config.arm = "native";
    config.model = {1, 32, 16, 2, 2};
    config.steps = 2;
    auto done = co_await host->prepare(config);
    if (!done) co_return done.error();
    for (const auto phase : {arm_phase::warmup, arm_phase::measure}) {
        auto started = co_await host->start(phase);
        if (!started) co_return started;
        for (bool running = true; running;) {
            auto event = co_await host->next_event(1s);
            if (!event) co_return event.error();
            ++seen->events;
            running = !std::holds_alternative<done_event>(event->body);
        }
    }
    auto views = co_await host->adapter();
    if (!views) co_return views.error();
    seen->adapter_asked = true;
    co_return result<void>();
}

task<outcome> whole(arm_host* host) {
    outcome seen;
    auto ran = co_await run_command(host, &seen);
    if (!ran) seen.failure = ran.error();
    seen.closed = co_await host->close();
    co_return seen;
}

outcome run_script(const std::string& script, std::vector<std::string> command = {}) {
    boost::asio::io_context context;
    command_host_options options;
    options.arm = "native";
    options.command = command.empty() ? std::vector<std::string>{"sh", "-c", script} : std::move(command);
    options.limits.launch = 2s;
    options.limits.prepare = 2s;
    options.limits.stop = {200ms, 200ms, 1s};
    const auto host = make_command_host(std::move(options));
    return run_task(context, whole(host.get()));
}

}  // namespace

TEST_CASE("a command runs through its phases and may end before it is asked again") {
    const auto seen = run_script(std::string(ready) + prepared + phases);
    CHECK_MESSAGE(!seen.failure, (seen.failure ? seen.failure->text() : ""));
    CHECK_EQ(seen.events, 3);
    CHECK(seen.adapter_asked);
    CHECK_FALSE(seen.closed.forced);
}

TEST_CASE("a command that dies is reported with its status and its last words") {
    const auto seen = run_script(std::string(ready) + "echo 'no such device' >&2; exit 3");
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->code, error_code::arm_failed);
    CHECK_EQ(seen.failure->reason, "crashed");
    CHECK_NE(seen.failure->message.find("no such device"), std::string::npos);
}

TEST_CASE("a command that says nothing is silence, and one that ignores every plea is killed") {
    const auto seen = run_script(std::string(ready) + prepared + "trap '' TERM; while :; do sleep 0.1; done");
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->reason, "silence");
    CHECK(seen.closed.forced);
    CHECK(seen.closed.close_ms < 3000);
}

TEST_CASE("a command's line that is no event, or far too long, ends its arm") {
    CHECK_EQ(run_script(std::string(ready) + "echo hello").failure->reason, "bad-event");
    CHECK_EQ(run_script(std::string(ready) + "head -c 20000000 /dev/zero | tr '\\0' x").failure->reason, "bad-event");
}

TEST_CASE("a command that is not there is named") {
    const auto seen = run_script("", {"/no/such/trainer"});
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->code, error_code::browser_launch_failed);
    CHECK_NE(seen.failure->message.find("/no/such/trainer"), std::string::npos);
}
