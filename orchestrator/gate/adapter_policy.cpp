#include "gate/adapter_policy.hpp"

#include <algorithm>
#include <cstdio>

#include "gate/adapter_names.hpp"

namespace assay {
namespace {

std::string hexadecimal(std::uint32_t id) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%04x", id);
    return text;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::string quoted(const std::string& text) { return text.empty() ? "(empty)" : "'" + text + "'"; }

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + quoted(name);
    return text;
}

class judge {
  public:
    judge(const adapter_policy& policy, const adapter_views& views) : policy_(policy), views_(views) {}

    policy_decision decide() {
        if (policy_.refuse_software || policy_.always_unqualified) look_for_software();
        if (policy_.refuse_virtual || policy_.always_unqualified) look_for_virtual();
        look_at_page();
        look_at_devtools();
        // A software renderer has no maker to agree on; it has been named already.
        const bool software = !decision_.reasons.empty() && decision_.reasons.front().code == "adapter-software";
        if (policy_.require_agreement && views_.page && views_.devtools && !software) look_at_agreement();
        look_at_probe();
        if (policy_.always_unqualified)
            add("adapter-never-qualifies", "the policy '" + policy_.name + "' lets any adapter run and qualifies none", {});
        decision_.accepted = decision_.reasons.empty();
        return std::move(decision_);
    }

  private:
    void add(std::string code, std::string message, std::map<std::string, std::string> facts) {
        decision_.reasons.push_back({std::move(code), std::move(message), std::move(facts)});
    }

    void look_for_software() {
        for (const auto& [where, text] : adapter_texts(views_))
            if (const auto name = software_renderer_in(text)) {
                add("adapter-software", "the adapter is a software renderer: " + where + " is '" + text + "'",
                    {{where, text}, {"renderer", std::string(*name)}});
                return;
            }
        if (!views_.devtools) return;
        for (const auto& device : views_.devtools->devices)
            if (is_software_pci_id(device.vendor_id)) {
                add("adapter-software", "the adapter is a software renderer: its vendor id is " + hexadecimal(device.vendor_id),
                    {{"vendor_id", hexadecimal(device.vendor_id)}});
                return;
            }
    }

    void look_for_virtual() {
        for (const auto& [where, text] : adapter_texts(views_))
            if (const auto name = virtual_device_in(text)) {
                add("adapter-virtual", "the adapter is a virtual device: " + where + " is '" + text + "'",
                    {{where, text}, {"device", std::string(*name)}});
                return;
            }
        if (!views_.devtools) return;
        for (const auto& device : views_.devtools->devices)
            if (is_virtual_pci_id(device.vendor_id)) {
                add("adapter-virtual", "the adapter is a virtual device: its vendor id is " + hexadecimal(device.vendor_id),
                    {{"vendor_id", hexadecimal(device.vendor_id)}});
                return;
            }
    }

    void look_at_page() {
        if (!views_.page) {
            add("adapter-absent", "the page was given no WebGPU adapter", {});
            return;
        }
        const auto& page = *views_.page;
        if (policy_.require_not_fallback || policy_.always_unqualified) {
            if (!page.is_fallback && policy_.require_not_fallback)
                add("adapter-fallback-unknown", "the browser does not say whether the adapter is a fallback, and that is not a no", {});
            if (page.is_fallback.value_or(false))
                add("adapter-fallback", "the browser says that the adapter is a fallback", {{"page.is_fallback", "true"}});
        }
        if (policy_.vendors && !accepts(*policy_.vendors, page.vendor))
            add("adapter-vendor",
                "the adapter's vendor is " + quoted(page.vendor) + "; the policy '" + policy_.name + "' accepts " +
                    list_of(*policy_.vendors),
                {{"page.vendor", page.vendor}});
        if (policy_.architectures && !accepts(*policy_.architectures, page.architecture))
            add("adapter-architecture",
                "the adapter's architecture is " + quoted(page.architecture) + "; the policy '" + policy_.name +
                    "' accepts " + list_of(*policy_.architectures),
                {{"page.architecture", page.architecture}});
    }

    static bool accepts(const std::vector<std::string>& names, const std::string& name) {
        return std::find(names.begin(), names.end(), lower(name)) != names.end();
    }

    void look_at_devtools() {
        if (!views_.devtools || views_.devtools->devices.empty()) {
            if (policy_.require_devtools || policy_.pci_vendors || policy_.require_driver_version)
                add("adapter-devtools-view-absent", "the browser's own view of the GPU (SystemInfo.getInfo) names no device", {});
            return;
        }
        const auto& devices = views_.devtools->devices;
        if (policy_.pci_vendors) {
            // Where the browser could not read the bus (a headless shell in a virtual machine) the id is 0; then the
            // driver's own name for the device, still a view apart from the page's, must be that of a listed vendor.
            const auto listed = [&](const devtools_gpu_device& device) {
                const auto named = vendor_in_text(device.vendor + " " + device.device);
                return std::any_of(policy_.pci_vendors->begin(), policy_.pci_vendors->end(), [&](std::uint32_t accepted) {
                    if (device.vendor_id != 0) return device.vendor_id == accepted;
                    return named && vendor_of_pci_id(accepted) == named;
                });
            };
            if (std::none_of(devices.begin(), devices.end(), listed))
                add("adapter-pci-vendor",
                    "the browser's GPU has vendor id " + hexadecimal(devices.front().vendor_id) + ", which the policy '" +
                        policy_.name + "' does not accept",
                    {{"devtools.devices[0].vendor_id", hexadecimal(devices.front().vendor_id)}});
        }
        if (policy_.require_driver_version && devices.front().driver_version.empty())
            add("adapter-driver-unknown", "the browser does not state its GPU driver's version", {});
    }

    void look_at_agreement() {
        const auto page_vendor = vendor_in_text(views_.page->vendor);
        if (!page_vendor) {
            add("adapter-views-disagree", "the page's vendor " + quoted(views_.page->vendor) + " is no maker of GPUs that is known here",
                {{"page.vendor", views_.page->vendor}});
            return;
        }
        std::string others;
        for (const auto& device : views_.devtools->devices) {
            auto vendor = vendor_of_pci_id(device.vendor_id);
            if (!vendor) vendor = vendor_in_text(device.vendor + " " + device.device);
            if (vendor == page_vendor) return;
            others += (others.empty() ? "" : ", ") + (vendor ? std::string(*vendor) : hexadecimal(device.vendor_id));
        }
        if (views_.devtools->devices.empty()) return;  // said already, where the policy asks for it
        add("adapter-views-disagree", "the page sees a GPU of " + std::string(*page_vendor) + ", the browser one of " + others,
            {{"page.vendor", views_.page->vendor}, {"devtools.vendors", others}});
    }

    void look_at_probe() {
        if (!policy_.probe || !views_.page) return;
        if (!views_.probe_gflops) {
            add("adapter-probe-missing", "the known-cost probe gave no rate", {});
            return;
        }
        const double rate = *views_.probe_gflops;
        if (rate >= policy_.probe->min_gflops && rate <= policy_.probe->max_gflops) return;
        char text[160];
        std::snprintf(text, sizeof text, "a small matrix product ran at %.3g GFLOP/s; hardware lies between %.3g and %.3g", rate,
                      policy_.probe->min_gflops, policy_.probe->max_gflops);
        char number[32];
        std::snprintf(number, sizeof number, "%.6g", rate);
        add("adapter-probe-implausible", text, {{"probe_gflops", number}});
    }

    const adapter_policy& policy_;
    const adapter_views& views_;
    policy_decision decision_;
};

}  // namespace

policy_decision judge_adapter(const adapter_policy& policy, const adapter_views& views) {
    return judge(policy, views).decide();
}

std::string_view adapter_class(const adapter_views& views) {
    if (!views.page) return "none";
    const auto texts = adapter_texts(views);
    const auto any = [&](auto test) { return std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return test(t.text).has_value(); }); };
    const auto any_id = [&](auto test) {
        return views.devtools && std::any_of(views.devtools->devices.begin(), views.devtools->devices.end(),
                                             [&](const auto& device) { return test(device.vendor_id); });
    };
    if (views.page->is_fallback.value_or(false) || any(software_renderer_in) || any_id(is_software_pci_id)) return "software";
    if (any(virtual_device_in) || any_id(is_virtual_pci_id)) return "virtual";
    return "hardware";
}

}  // namespace assay
