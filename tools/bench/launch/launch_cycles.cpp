// Launches a browser, opens an isolated page, holds a WebGPU device and closes, once for each line on standard input.
//
//   assay_launch_cycles BROWSER PAGE_URL HOME     each cycle prints one JSON object of milliseconds by part
//   assay_launch_cycles BROWSER                   prints the switches that a launch uses, one a line
//
// The parts are those of an arm (browser/chrome_host.cpp): the same process, connection and page driver.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "browser/chrome_process.hpp"
#include "browser/chrome_switches.hpp"
#include "browser/notifier.hpp"
#include "browser/page_driver.hpp"

namespace {

using namespace assay;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto limit = 30s;
constexpr const char* hold_device =
    "(async () => { globalThis.held = await (await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' "
    "}))"
    ".requestDevice(); return crossOriginIsolated ? 'held' : 'not isolated'; })()";

struct cycle_times {
    double launch_ms = 0, page_ms = 0, device_ms = 0, close_ms = 0;
};

double milliseconds(steady::time_point from, steady::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

boost::asio::awaitable<result<cycle_times>> cycle(chrome_launch launch, std::string url, const assay::clock* time,
                                                  random_source* random) {
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto start = steady::now();
    auto started = chrome_process::start(executor, std::move(launch), *time, *random);
    if (!started) co_return started.error();
    const std::unique_ptr<browser_link> browser = std::move(*started);
    notifier changed(executor);
    bool loaded = false;
    std::optional<error> failure;
    page_handlers handlers;
    handlers.event = [&](const std::string&) {
        loaded = true;
        changed.notify();
    };
    handlers.failed = [&](error why) {
        failure = std::move(why);
        changed.notify();
    };
    page_driver page(browser->connection(), std::move(url), std::move(handlers));
    browser->connection().start();
    const nlohmann::json nothing = nlohmann::json::object();
    const auto version = browser->connection().post({}, "Browser.getVersion", nothing);
    page.post_open();
    auto about = co_await browser->connection().reply(version, limit);
    if (!about) co_return about.error();
    const auto launched = steady::now();
    auto opened = co_await page.opened(limit);
    if (!opened) co_return opened.error();
    while (!loaded && !failure && steady::now() < launched + limit) co_await changed.wait_until(launched + limit);
    if (failure) co_return *failure;
    const auto ready = steady::now();
    auto held = co_await page.evaluate_text(hold_device, limit);
    if (!held) co_return held.error();
    if (*held != "held") co_return error{error_code::page_failed, "the page is " + *held};
    const auto device = steady::now();
    const auto stopped = co_await browser->stop(stop_limits{});
    const auto closed = steady::now();
    if (stopped.forced || !stopped.profile_removed)
        co_return error{error_code::internal, "the browser did not close cleanly"};
    co_return cycle_times{milliseconds(start, launched), milliseconds(launched, ready), milliseconds(ready, device),
                          milliseconds(device, closed)};
}

/// One cycle on a context of its own; false, with the reason on standard error, when it failed.
bool run_cycle(const chrome_launch& launch, const std::string& url) {
    boost::asio::io_context context;
    real_clock time;
    system_random random;
    bool well = false;
    boost::asio::co_spawn(context, cycle(launch, url, &time, &random),
                          [&](std::exception_ptr thrown, result<cycle_times> times) {
                              if (thrown) std::rethrow_exception(thrown);
                              well = times.has_value();
                              if (!well) {
                                  std::cerr << times.error().text() << '\n';
                                  return;
                              }
                              std::printf("{\"launch\": %.3f, \"page\": %.3f, \"device\": %.3f, \"close\": %.3f}\n",
                                          times->launch_ms, times->page_ms, times->device_ms, times->close_ms);
                              std::fflush(stdout);
                          });
    context.run();
    return well;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2 && count != 4) {
        std::cerr << "usage: assay_launch_cycles BROWSER [PAGE_URL HOME]\n";
        return 2;
    }
    chrome_launch launch;
    launch.binary = arguments[1];
    launch.switches = chrome_switches(detect_conditions(flavour_of(launch.binary), gpu_mode::automatic), {});
    if (count == 2) {
        for (const auto& text : launch.switches) std::cout << text << '\n';
        return 0;
    }
    launch.home = arguments[3];
    for (std::string line; std::getline(std::cin, line);)
        if (!run_cycle(launch, arguments[2])) return 1;
    return 0;
}
