// `assay doctor`: what this machine has, what the gate would say, what to do about it.
#include <boost/asio/co_spawn.hpp>
#include <iostream>

#include "application.hpp"
#include "browser/chrome_discovery.hpp"
#include "contract/doctor_report.hpp"
#include "gate/adapter_policy.hpp"

namespace assay {
namespace {

/// Launches the arm's page once, as a run would, and keeps what both views say.
task<void> ask_browser(application* app, doctor_report* report) {
    measurement_services& services = app->services();
    std::string arm = "webgpu";
    auto host = services.run.launcher->make_host(arm, services.run.pages->origin());
    if (!host) {
        report->failure = host.error().text();
        co_return;
    }
    auto opened = co_await (*host)->open();
    if (opened) {
        report->browser = opened->browser;
        report->adapter = opened->adapter;
        report->page = opened->ready.page;
        if (opened->ready.page) {
            report->environment.cross_origin_isolated = opened->ready.page->cross_origin_isolated;
            report->environment.visibility = opened->ready.page->visibility;
            report->environment.timer_quantum_us = opened->ready.page->timer_quantum_us;
        }
    } else {
        report->failure = opened.error().text();
    }
    co_await (*host)->close();
}

void advise(doctor_report& report) {
    if (report.browsers.empty())
        report.advice.emplace_back("Install Chrome or Chromium, or name one with --browser PATH.");
    if (report.failure) return;
    if (report.adapter_class == "none")
        report.advice.emplace_back(
            "Chrome offers no WebGPU adapter: check the GPU's driver; on Linux a Vulkan driver is needed.");
    if (report.adapter_class == "software")
        report.advice.emplace_back(
            "Chrome fell back to a software adapter. On a machine with a GPU check its driver and any --browser-switch; "
            "without one use --policy any: the result is then unqualified.");
    if (report.adapter_class == "hardware" && !report.accepted)
        report.advice.push_back("The hardware is real but not of the class '" + report.policy +
                                "'. Name its own policy with --policy, for example any-hardware.");
}

result<gate_decision> decide(application& app, const doctor_report& report, std::string policy) {
    run_request request;
    request.policy = std::move(policy);
    auto gate = app.services().gate(request);
    if (!gate) return gate.error();
    return (*gate)(report.adapter, report.environment);
}

}  // namespace

int command_doctor(const doctor_options& options) {
    set_up_logging(options.shared);
    auto app = application::open(options.shared, std::nullopt, listen_address{}, false);
    if (!app) return report_error(app.error());
    doctor_report report;
    report.machine = (*app)->services().run.environment->machine();
    report.environment = (*app)->services().run.environment->snapshot();
    report.policy = options.policy;
    auto chosen = choose_browser(options.shared.browser, this_system(), process_environment, is_executable_file);
    for (const found_browser& browser : find_browsers(this_system(), process_environment, is_executable_file))
        report.browsers.push_back({browser.channel, browser.path.string(), browser.version,
                                   chosen && chosen->path == browser.path});
    boost::asio::co_spawn((*app)->context(), ask_browser(app->get(), &report), [&report](std::exception_ptr thrown) {
        if (thrown) report.failure = "The browser could not be asked";
    });
    (*app)->context().run();

    auto decision = decide(**app, report, options.policy);
    if (!decision) return report_error(decision.error());
    report.accepted = decision->accepted && !report.failure;
    report.reasons = decision->reasons;
    report.adapter_class = adapter_class(report.adapter);
    advise(report);
    std::cout << (options.json ? doctor_json_text(report) + "\n" : doctor_text(report));
    if (report.failure) return exit_failed;
    // The policy `any` qualifies nothing and refuses nothing: a run with it would go on.
    return report.accepted || options.policy == "any" ? exit_verified : exit_refused;
}

}  // namespace assay
