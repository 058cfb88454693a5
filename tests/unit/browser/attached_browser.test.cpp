// A browser that somebody else started: an arm runs in a page of its own there, and the browser goes on.
#include <doctest/doctest.h>

#include "host_fixture.hpp"
#include "running_browser.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

TEST_CASE("an arm runs in a browser that was running already, twice, and leaves it running") {
    running_browser browser;
    const page_site site({{"/arm/", arm_page("")}});
    for (int round = 0; round < 2; ++round) {
        const auto seen = visit_attached(site, "/arm/", browser.url(), 8s);
        CHECK_MESSAGE(!seen.failure, (seen.failure ? seen.failure->text() : ""));
        REQUIRE(seen.opened);
        CHECK_EQ(seen.opened->browser->path, browser.url());
        CHECK_EQ(seen.opened->browser->switches, std::vector<std::string>{"<attached>"});
        CHECK(seen.opened->ready.page->cross_origin_isolated);
        REQUIRE(seen.opened->adapter.devtools);
        CHECK_EQ(seen.events, std::vector<std::string>{"steps", "done", "steps", "done"});
        CHECK(browser.runs());
    }
}

TEST_CASE("an attached browser's misbehaving page ends the arm under its own reason, and the browser stays usable") {
    running_browser browser;
    const page_site bad({{"/arm/", arm_page("alert('who is there?')")}});
    const auto disturbed = visit_attached(bad, "/arm/", browser.url(), 8s);
    REQUIRE(disturbed.failure);
    CHECK_EQ(disturbed.failure->reason, "dialog");
    const page_site good({{"/arm/", arm_page("")}});
    CHECK_FALSE(visit_attached(good, "/arm/", browser.url(), 8s).failure);
}

TEST_CASE("attaching where no browser listens fails within its deadline and says where") {
    std::string url;
    {
        running_browser browser;
        url = browser.url();
        browser.kill();
    }
    const page_site site({{"/arm/", arm_page("")}});
    const auto seen = visit_attached(site, "/arm/", url, 8s);
    REQUIRE(seen.failure);
    CHECK_NE(seen.failure->message.find("127.0.0.1"), std::string::npos);
}
