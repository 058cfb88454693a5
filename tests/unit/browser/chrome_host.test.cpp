#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "browser/process_table.hpp"
#include "core/start_program.hpp"
#include "host_fixture.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

void check_nothing_left(const visit& seen) {
    CHECK_FALSE(seen.profile_left);
    CHECK_EQ(seen.processes_left, 0);
}

/// A visit whose measure() runs this script after its two steps.
visit misbehaving(const std::string& script, std::chrono::milliseconds silence = 8s) {
    const page_site site({{"/arm/", arm_page(script)}});
    return visit_page(site, "/arm/", silence);
}

}  // namespace

TEST_CASE("an arm runs from launch to close in a real browser and leaves nothing") {
    const page_site site({{"/arm/", arm_page("")}});
    const auto seen = visit_page(site, "/arm/", 8s);
    CHECK_MESSAGE(!seen.failure, (seen.failure ? seen.failure->text() : ""));
    REQUIRE(seen.opened);
    CHECK_NE(seen.opened->browser->product.find("Chrome/"), std::string::npos);
    CHECK_EQ(seen.opened->browser->switches.back(), "--user-data-dir=<profile>");
    CHECK(seen.opened->ready.page->cross_origin_isolated);
    CHECK_EQ(seen.opened->ready.page->visibility, "visible");
    REQUIRE(seen.opened->adapter.devtools);
    CHECK_FALSE(seen.opened->adapter.devtools->devices.empty());
    CHECK(seen.opened->launch_ms > 0);
    CHECK_EQ(seen.events, std::vector<std::string>{"steps", "done", "steps", "done"});
    REQUIRE(seen.adapter);
    REQUIRE(seen.adapter->page);
    CHECK_EQ(seen.adapter->page->architecture, "swiftshader");
    CHECK_EQ(seen.adapter->page->is_fallback, true);
    CHECK_FALSE(seen.closed.forced);
    check_nothing_left(seen);
}

TEST_CASE("a dialog ends the arm with its words") {
    const auto seen = misbehaving("alert('are you there?')");
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->reason, "dialog");
    CHECK_NE(seen.failure->message.find("are you there?"), std::string::npos);
    check_nothing_left(seen);
}

TEST_CASE("a page that navigates away ends the arm") {
    const auto seen = misbehaving("location.href = '/arm/?again'; await new Promise(() => {})");
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->reason, "navigated-away");
    check_nothing_left(seen);
}

TEST_CASE("a console error ends the arm and is quoted") {
    const auto seen = misbehaving("console.error('the tile is upside down', 7); await new Promise(() => {})");
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->reason, "console-error");
    CHECK_NE(seen.failure->message.find("the tile is upside down 7"), std::string::npos);
    check_nothing_left(seen);
}

TEST_CASE("an exception that nobody caught ends the arm") {
    const auto seen = misbehaving("setTimeout(() => { throw new Error('lost my way'); }); await new Promise(() => {})");
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->reason, "exception");
    CHECK_NE(seen.failure->message.find("lost my way"), std::string::npos);
}

TEST_CASE("a page that takes all memory ends the arm as out of memory, in bounded time") {
    // A small heap, so that filling it takes no time; the engine ends the page as it would at its usual bound.
    const page_site site(
        {{"/arm/", arm_page("const kept = []; for (;;) kept.push(new Array(1 << 16).fill(kept.length + 0.5))")}});
    const auto seen = visit_page(site, "/arm/", 40s, {}, {"--js-flags=--max-old-space-size=64"});
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->reason, "out-of-memory");
    CHECK_EQ(seen.failure->code, error_code::browser_crashed);
    check_nothing_left(seen);
}

TEST_CASE("a page that loops without end is silence, and closing it is bounded") {
    const auto seen = misbehaving("for (;;) {}", 1s);
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->code, error_code::deadline_exceeded);
    CHECK_EQ(seen.failure->reason, "silence");
    CHECK(seen.seconds < 15);
    check_nothing_left(seen);
}

TEST_CASE("a typed error of the arm arrives as its own code") {
    const auto seen = misbehaving("return tell({ event: 'error', code: 'not-finite', message: 'the loss is NaN' })");
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->code, error_code::arm_failed);
    CHECK_EQ(seen.failure->reason, "not-finite");
}

TEST_CASE("an event that the contract does not know, or a gap in the sequence, ends the arm") {
    const auto unknown =
        misbehaving("return tell({ event: 'steps', phase: 'measure', first: 2, wall_ms: [-1], loss: [1] })");
    REQUIRE(unknown.failure);
    CHECK_EQ(unknown.failure->reason, "bad-event");
    const auto gap = misbehaving("sequence++");
    REQUIRE(gap.failure);
    CHECK_EQ(gap.failure->reason, "lost-event");
}

TEST_CASE("a page that is not there is named at once") {
    const page_site site({});
    const auto seen = visit_page(site, "/arm/", 8s);
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->reason, "page-unreachable");
    CHECK(seen.seconds < 10);
    check_nothing_left(seen);
}

TEST_CASE("a browser that starts and never says a word fails its launch within the limit, and is ended") {
    temporary_folder folder;
    const auto mute = folder.path() / "chromium-headless-shell";
    std::ofstream(mute) << "#!/bin/sh\nexec sleep 600\n";
    std::filesystem::permissions(mute, std::filesystem::perms::owner_all);
    const page_site site({{"/arm/", arm_page("")}});
    const auto seen = visit_page(site, "/arm/", 8s, {}, {}, mute);
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->code, error_code::deadline_exceeded);
    CHECK_NE(seen.failure->message.find("did not start"), std::string::npos);
    CHECK(seen.seconds < 15);
    check_nothing_left(seen);
}

TEST_CASE("a question to the page whose promise never settles ends at its deadline") {
    auto page = arm_page("");
    page.insert(page.find("</script>"), ";assay.facts = () => new Promise(() => {});");
    const page_site site({{"/arm/", page}});
    const auto seen = visit_page(site, "/arm/", 8s);
    REQUIRE(seen.failure);
    CHECK_EQ(seen.failure->code, error_code::deadline_exceeded);
    CHECK(seen.seconds < 20);
    check_nothing_left(seen);
}

#ifdef __linux__
namespace {

/// While it lives, orphans of this process come to it, as they do to PID 1.
struct subreaper {
    subreaper() { REQUIRE_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
    ~subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
};

std::string children_of_this_process() {
    std::ifstream list("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    return {std::istreambuf_iterator<char>(list), {}};
}

}  // namespace

TEST_CASE("where orphans come to this process, as they do to PID 1, an arm leaves none of them unreaped") {
    const subreaper reaper;
    const page_site site({{"/arm/", arm_page("")}});
    const auto seen = visit_page(site, "/arm/", 8s);
    CHECK_FALSE(seen.failure);
    CHECK_EQ(children_of_this_process(), "");
}

TEST_CASE("an orphan that made a session of its own is reaped when it ends, and a child of ours is left to its owner") {
    const subreaper reaper;
    const auto ours = start_program({"sh", {"-c", "exit 7"}, {}, {}, {}});
    const auto parent = start_program({"sh", {"-c", "setsid sh -c 'sleep 0.05 & exit'"}, {}, {}, {}});
    REQUIRE(ours.has_value());
    REQUIRE(parent.has_value());
    REQUIRE_EQ(::waitpid(*parent, nullptr, 0), *parent);
    const std::string only_ours = std::to_string(*ours) + " ";
    CHECK_NE(children_of_this_process(), only_ours);
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (children_of_this_process() != only_ours && std::chrono::steady_clock::now() < deadline) {
        reap_adopted_children();
        std::this_thread::sleep_for(2ms);
    }
    CHECK_EQ(children_of_this_process(), only_ours);
    int status = 0;
    REQUIRE_EQ(::waitpid(*ours, &status, 0), *ours);
    CHECK_EQ(WEXITSTATUS(status), 7);
}
#endif
