// A browser that somebody else started: an arm runs in a page of its own there, and the browser goes on.
#include <doctest/doctest.h>
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <fstream>
#include <thread>

#include "browser/child_process.hpp"
#include "host_fixture.hpp"

using namespace assay;
using namespace assay::test;
using namespace std::chrono_literals;

namespace {

/// A Chromium with a debugging port of its own choosing.
class running_browser {
  public:
    running_browser() {
        child_specification specification;
        specification.program = test_browser().string();
        specification.arguments = {"--headless",
                                   "--no-sandbox",
                                   "--remote-debugging-port=0",
                                   "--enable-unsafe-webgpu",
                                   "--user-data-dir=" + profile_.path().string(),
                                   "about:blank"};
        specification.wiring = child_wiring::descriptors_3_and_4;
        auto child = child_process::start(context_.get_executor(), specification);
        REQUIRE(child.has_value());
        child_ = std::move(*child);
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        std::string port, path;
        while (path.empty() && std::chrono::steady_clock::now() < deadline) {
            std::ifstream file(profile_.path() / "DevToolsActivePort");
            std::getline(file, port);
            std::getline(file, path);
            std::this_thread::sleep_for(20ms);
        }
        url_ = "ws://127.0.0.1:" + port + path;
    }

    const std::string& url() const { return url_; }
    bool runs() { return !child_->poll(); }
    void kill() {
        child_->signal_group(SIGKILL);
        while (!child_->poll()) std::this_thread::sleep_for(5ms);
    }

  private:
    temporary_folder profile_;
    boost::asio::io_context context_;
    std::unique_ptr<child_process> child_;  // its destructor ends the group
    std::string url_;
};

}  // namespace

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
