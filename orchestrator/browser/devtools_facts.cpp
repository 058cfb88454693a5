#include "browser/devtools_facts.hpp"

#include <nlohmann/json.hpp>

#include "receipt/digest.hpp"

namespace assay {

using json = nlohmann::json;

namespace {

std::string text_at(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint32_t id_at(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number()) return 0;
    const double value = found->get<double>();
    return value >= 0 && value <= 4294967295.0 ? static_cast<std::uint32_t>(value) : 0;
}

/// The lists of OpenGL extensions would be half of a receipt, ten times in each, and nobody reads them: their digest still
/// tells one driver from another. Every other text stays whole, for the gate looks into it.
std::string without_list(const std::string& name, std::string text) {
    if ((name != "glExtensions" && name != "glWsExtensions") || text.empty()) return text;
    return "sha256:" + sha256_hex(text) + " of " + std::to_string(text.size()) + " bytes";
}

std::map<std::string, std::string> texts_of(const json& object) {
    std::map<std::string, std::string> texts;
    if (!object.is_object()) return texts;
    for (const auto& [name, value] : object.items())
        texts[name] = without_list(name, value.is_string()
                                             ? value.get<std::string>()
                                             : value.dump(-1, ' ', false, json::error_handler_t::replace));
    return texts;
}

}  // namespace

result<devtools_adapter> read_system_info(const json& reply) {
    const auto gpu = reply.find("gpu");
    if (gpu == reply.end() || !gpu->is_object())
        return error{error_code::protocol_error, "the browser's SystemInfo.getInfo says nothing about a GPU"};
    devtools_adapter adapter;
    if (const auto devices = gpu->find("devices"); devices != gpu->end() && devices->is_array())
        for (const auto& device : *devices) {
            if (!device.is_object()) continue;
            adapter.devices.push_back({id_at(device, "vendorId"), id_at(device, "deviceId"), text_at(device, "vendorString"),
                                       text_at(device, "deviceString"), text_at(device, "driverVendor"),
                                       text_at(device, "driverVersion")});
        }
    adapter.feature_status = texts_of(gpu->value("featureStatus", json::object()));
    adapter.aux_attributes = texts_of(gpu->value("auxAttributes", json::object()));
    if (const auto list = gpu->find("driverBugWorkarounds"); list != gpu->end() && list->is_array())
        for (const auto& item : *list)
            if (item.is_string()) adapter.driver_bug_workarounds.push_back(item.get<std::string>());
    adapter.model_name = text_at(reply, "modelName");
    adapter.model_version = text_at(reply, "modelVersion");
    return adapter;
}

void read_browser_version_reply(const json& reply, browser_facts& facts) {
    facts.product = text_at(reply, "product");
    facts.user_agent = text_at(reply, "userAgent");
    facts.javascript_version = text_at(reply, "jsVersion");
}

std::optional<pid_t> gpu_process_of(const json& reply) {
    const auto list = reply.find("processInfo");
    if (list == reply.end() || !list->is_array()) return std::nullopt;
    for (const auto& process : *list)
        if (process.is_object() && text_at(process, "type") == "GPU" && id_at(process, "id") > 0)
            return static_cast<pid_t>(id_at(process, "id"));
    return std::nullopt;
}

}  // namespace assay
