#include "contract/doctor_report.hpp"

#include <algorithm>
#include <cstdio>

#include "contract/facts_json.hpp"

namespace assay {
namespace {

constexpr int label_width = 14;

void line(std::string& out, std::string label, const std::string& text) {
    label.resize(label_width, ' ');
    out += label + text + "\n";
}

std::string number(double value, const char* unit) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f%s", value, unit);
    return text;
}

std::string environment_line(const environment_snapshot& seen) {
    std::string out;
    const auto add = [&out](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
    if (seen.power_source) add("power " + *seen.power_source);
    if (seen.thermal_state) add("thermal " + *seen.thermal_state);
    if (seen.load_average_1m) add("load " + number(*seen.load_average_1m, ""));
    if (seen.memory_available_fraction) add("memory free " + number(*seen.memory_available_fraction * 100, " %"));
    if (seen.disk_free_gib) add("disk free " + number(*seen.disk_free_gib, " GiB"));
    if (seen.other_browsers) add("other browsers " + std::to_string(*seen.other_browsers));
    return out.empty() ? "nothing could be read" : out;
}

/// Whether the arm webgpu-f16 could run on this adapter.
std::string half_precision_line(const page_adapter& adapter) {
    const auto& features = adapter.features;
    const bool has = std::find(features.begin(), features.end(), "shader-f16") != features.end();
    return has ? "the adapter has shader-f16: the arm webgpu-f16 can run"
               : "the adapter lacks shader-f16: the arm webgpu-f16 cannot run here";
}

std::string adapter_line(const page_adapter& adapter) {
    std::string out = adapter.vendor.empty() ? "(no vendor)" : adapter.vendor;
    if (!adapter.architecture.empty()) out += " " + adapter.architecture;
    if (!adapter.description.empty()) out += ", " + adapter.description;
    if (!adapter.is_fallback)
        out += ", does not say whether it is a fallback";
    else
        out += *adapter.is_fallback ? ", a software fallback" : ", not a fallback";
    return out;
}

}  // namespace

std::string doctor_json_text(const doctor_report& report) {
    json out{{"schema", "assay.doctor/1.0"},
             {"machine", facts_json(report.machine)},
             {"environment", facts_json(report.environment)},
             {"adapter", facts_json(report.adapter)},
             {"adapter_class", report.adapter_class},
             {"policy", report.policy},
             {"accepted", report.accepted},
             {"advice", report.advice}};
    out["browsers"] = json::array();
    for (const doctor_browser& browser : report.browsers) {
        json entry{{"channel", browser.channel}, {"path", browser.path}, {"chosen", browser.chosen}};
        if (browser.version) entry["version"] = *browser.version;
        out["browsers"].push_back(std::move(entry));
    }
    out["reasons"] = json::array();
    for (const reason& why : report.reasons)
        out["reasons"].push_back({{"code", why.code}, {"message", why.message}, {"facts", why.facts}});
    if (report.page) out["page"] = facts_json(*report.page);
    if (report.browser) out["product"] = report.browser->product;
    if (report.failure) out["failure"] = *report.failure;
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string doctor_text(const doctor_report& report) {
    std::string out;
    const machine_facts& machine = report.machine;
    line(out, "machine", machine.hostname + ", " + machine.os + " " + machine.os_version + ", " + machine.cpu_model + ", " +
                             std::to_string(machine.logical_cores) + " cores");
    line(out, "environment", environment_line(report.environment));
    for (const doctor_browser& browser : report.browsers)
        line(out, browser.chosen ? "browser *" : "browser", browser.channel + "  " + browser.path + "  " +
                                                                browser.version.value_or("(no version)"));
    if (report.browsers.empty()) line(out, "browser", "none found");
    if (report.failure) line(out, "failure", *report.failure);
    if (report.browser) line(out, "launched", report.browser->product);
    if (report.adapter.page) {
        line(out, "page sees", adapter_line(*report.adapter.page));
        line(out, "f16", half_precision_line(*report.adapter.page));
    } else {
        line(out, "page sees", "no WebGPU adapter");
    }
    if (report.adapter.devtools)
        for (const devtools_gpu_device& device : report.adapter.devtools->devices)
            line(out, "browser sees", device.vendor + " " + device.device + " " + device.driver_version);
    line(out, "adapter", report.adapter_class);
    line(out, "gate", "the policy '" + report.policy + "' " + (report.accepted ? "is met" : "is not met"));
    for (const reason& why : report.reasons) line(out, "", why.code + ": " + why.message);
    for (const std::string& advice : report.advice) line(out, "do", advice);
    return out;
}

}  // namespace assay
