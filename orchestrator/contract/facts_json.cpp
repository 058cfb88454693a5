#include "contract/facts_json.hpp"

namespace assay {
namespace {

struct dependency {
    std::string name;
    std::string version;
};

void read_json(const json& value, const json_context& at, dependency& out) {
    object_reader object(value, at);
    object.required("name", out.name);
    object.required("version", out.version);
    object.finish();
}

}  // namespace

void read_json(const json& value, const json_context& at, page_adapter& out) {
    object_reader object(value, at);
    object.required("vendor", out.vendor);
    object.required("architecture", out.architecture);
    object.required("device", out.device);
    object.required("description", out.description);
    object.optional("is_fallback", out.is_fallback);
    object.optional("subgroup_min_size", out.subgroup_min_size);
    object.optional("subgroup_max_size", out.subgroup_max_size);
    object.defaulted("features", out.features);
    object.defaulted("limits", out.limits);
    object.finish();
}

json facts_json(const page_adapter& adapter) {
    json out{{"vendor", adapter.vendor},
             {"architecture", adapter.architecture},
             {"device", adapter.device},
             {"description", adapter.description}};
    put(out, "is_fallback", adapter.is_fallback);
    put(out, "subgroup_min_size", adapter.subgroup_min_size);
    put(out, "subgroup_max_size", adapter.subgroup_max_size);
    put_unless_empty(out, "features", adapter.features);
    put_unless_empty(out, "limits", adapter.limits);
    return out;
}

void read_json(const json& value, const json_context& at, devtools_gpu_device& out) {
    object_reader object(value, at);
    object.required("vendor_id", out.vendor_id);
    object.required("device_id", out.device_id);
    object.required("vendor", out.vendor);
    object.required("device", out.device);
    object.required("driver_vendor", out.driver_vendor);
    object.required("driver_version", out.driver_version);
    object.finish();
}

void read_json(const json& value, const json_context& at, devtools_adapter& out) {
    object_reader object(value, at);
    object.required("devices", out.devices);
    object.defaulted("feature_status", out.feature_status);
    object.defaulted("aux_attributes", out.aux_attributes);
    object.defaulted("driver_bug_workarounds", out.driver_bug_workarounds);
    object.defaulted("model_name", out.model_name);
    object.defaulted("model_version", out.model_version);
    object.finish();
}

json facts_json(const devtools_adapter& adapter) {
    json out{{"devices", json::array()}};
    for (const devtools_gpu_device& device : adapter.devices)
        out["devices"].push_back({{"vendor_id", device.vendor_id},
                                  {"device_id", device.device_id},
                                  {"vendor", device.vendor},
                                  {"device", device.device},
                                  {"driver_vendor", device.driver_vendor},
                                  {"driver_version", device.driver_version}});
    put_unless_empty(out, "feature_status", adapter.feature_status);
    put_unless_empty(out, "aux_attributes", adapter.aux_attributes);
    put_unless_empty(out, "driver_bug_workarounds", adapter.driver_bug_workarounds);
    put_unless_empty(out, "model_name", adapter.model_name);
    put_unless_empty(out, "model_version", adapter.model_version);
    return out;
}

void read_json(const json& value, const json_context& at, adapter_views& out) {
    object_reader object(value, at);
    object.optional("page", out.page);
    object.optional("devtools", out.devtools);
    object.optional("probe_gflops", out.probe_gflops);
    object.finish();
}

json facts_json(const adapter_views& views) {
    json out = json::object();
    if (views.page) out["page"] = facts_json(*views.page);
    if (views.devtools) out["devtools"] = facts_json(*views.devtools);
    put(out, "probe_gflops", views.probe_gflops);
    return out;
}

void read_json(const json& value, const json_context& at, page_facts& out) {
    object_reader object(value, at);
    object.required("cross_origin_isolated", out.cross_origin_isolated);
    object.required("visibility", out.visibility);
    if (out.visibility != "visible" && out.visibility != "hidden")
        json_context(at, "visibility").fail("must be \"visible\" or \"hidden\"");
    object.required("timer_quantum_us", out.timer_quantum_us);
    if (out.timer_quantum_us < 0) json_context(at, "timer_quantum_us").fail("must not be negative");
    object.integer("hardware_concurrency", out.hardware_concurrency, 1, 1 << 20);
    object.required("user_agent", out.user_agent);
    object.required("webgpu", out.webgpu);
    object.optional("wasm_relaxed_simd", out.wasm_relaxed_simd);
    object.optional("wasm_memory64", out.wasm_memory64);
    object.finish();
}

json facts_json(const page_facts& page) {
    json out{{"cross_origin_isolated", page.cross_origin_isolated},
             {"visibility", page.visibility},
             {"timer_quantum_us", page.timer_quantum_us},
             {"hardware_concurrency", page.hardware_concurrency},
             {"user_agent", page.user_agent},
             {"webgpu", page.webgpu}};
    put(out, "wasm_relaxed_simd", page.wasm_relaxed_simd);
    put(out, "wasm_memory64", page.wasm_memory64);
    return out;
}

void read_json(const json& value, const json_context& at, machine_facts& out) {
    object_reader object(value, at);
    object.required("machine_id", out.machine_id);
    object.required("hostname", out.hostname);
    object.required("os", out.os);
    object.required("os_version", out.os_version);
    object.required("architecture", out.architecture);
    object.required("cpu_model", out.cpu_model);
    object.required("logical_cores", out.logical_cores);
    object.required("memory_bytes", out.memory_bytes);
    object.optional("model_identifier", out.model_identifier);
    object.required("assay_version", out.assay_version);
    std::vector<dependency> dependencies;
    object.defaulted("dependencies", dependencies);
    out.dependencies.clear();
    for (dependency& item : dependencies) out.dependencies.emplace_back(std::move(item.name), std::move(item.version));
    object.finish();
}

json facts_json(const machine_facts& machine) {
    json out{{"machine_id", machine.machine_id},
             {"hostname", machine.hostname},
             {"os", machine.os},
             {"os_version", machine.os_version},
             {"architecture", machine.architecture},
             {"cpu_model", machine.cpu_model},
             {"logical_cores", machine.logical_cores},
             {"memory_bytes", machine.memory_bytes},
             {"assay_version", machine.assay_version}};
    put(out, "model_identifier", machine.model_identifier);
    for (const auto& [name, version] : machine.dependencies)
        out["dependencies"].push_back({{"name", name}, {"version", version}});
    return out;
}

void read_json(const json& value, const json_context& at, environment_snapshot& out) {
    object_reader object(value, at);
    object.required("taken_at", out.taken_at);
    object.optional("power_source", out.power_source);
    object.optional("battery_percent", out.battery_percent);
    object.optional("thermal_state", out.thermal_state);
    object.optional("temperature_celsius", out.temperature_celsius);
    object.optional("load_average_1m", out.load_average_1m);
    object.optional("memory_available_fraction", out.memory_available_fraction);
    object.optional("disk_free_gib", out.disk_free_gib);
    object.optional("other_browsers", out.other_browsers);
    object.optional("uptime_seconds", out.uptime_seconds);
    object.optional("asleep_seconds", out.asleep_seconds);
    object.optional("cpu_frequency_mhz", out.cpu_frequency_mhz);
    object.optional("cpu_governor", out.cpu_governor);
    object.optional("cross_origin_isolated", out.cross_origin_isolated);
    object.optional("visibility", out.visibility);
    object.optional("timer_quantum_us", out.timer_quantum_us);
    object.finish();
}

json facts_json(const environment_snapshot& snapshot) {
    json out{{"taken_at", snapshot.taken_at}};
    put(out, "power_source", snapshot.power_source);
    put(out, "battery_percent", snapshot.battery_percent);
    put(out, "thermal_state", snapshot.thermal_state);
    put(out, "temperature_celsius", snapshot.temperature_celsius);
    put(out, "load_average_1m", snapshot.load_average_1m);
    put(out, "memory_available_fraction", snapshot.memory_available_fraction);
    put(out, "disk_free_gib", snapshot.disk_free_gib);
    put(out, "other_browsers", snapshot.other_browsers);
    put(out, "uptime_seconds", snapshot.uptime_seconds);
    put(out, "asleep_seconds", snapshot.asleep_seconds);
    put(out, "cpu_frequency_mhz", snapshot.cpu_frequency_mhz);
    put(out, "cpu_governor", snapshot.cpu_governor);
    put(out, "cross_origin_isolated", snapshot.cross_origin_isolated);
    put(out, "visibility", snapshot.visibility);
    put(out, "timer_quantum_us", snapshot.timer_quantum_us);
    return out;
}

}  // namespace assay
