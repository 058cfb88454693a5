// A browser that somebody else started, for the tests that attach to one.
#pragma once

#include <doctest/doctest.h>
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "browser/child_process.hpp"
#include "host_fixture.hpp"

namespace assay::test {

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
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        std::string port, path;
        while (path.empty() && std::chrono::steady_clock::now() < deadline) {
            std::ifstream file(profile_.path() / "DevToolsActivePort");
            std::getline(file, port);
            std::getline(file, path);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        url_ = "ws://127.0.0.1:" + port + path;
    }

    const std::string& url() const { return url_; }
    bool runs() { return !child_->poll(); }
    void kill() {
        child_->signal_group(SIGKILL);
        while (!child_->poll()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }

  private:
    temporary_folder profile_;
    boost::asio::io_context context_;
    std::unique_ptr<child_process> child_;  // its destructor ends the group
    std::string url_;
};

}  // namespace assay::test
