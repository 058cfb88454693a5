#include "host_fixture.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "browser/chrome_discovery.hpp"
#include "browser/chrome_host.hpp"
#include "browser/process_table.hpp"
#include "run_task.hpp"

namespace assay::test {

namespace fs = std::filesystem;

fs::path test_browser() {
    for (const char* path :
         {"/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium", "/usr/bin/chromium"})
        if (is_executable_file(path)) return path;
    throw std::runtime_error("no Chromium: install the Debian package chromium-headless-shell");
}

std::string arm_page(const std::string& misbehave) {
    return R"(<!doctype html><title>arm</title><script>
let sequence = 0;
const tell = (event) => globalThis.assayEvent(JSON.stringify({ ...event, sequence: sequence++ }));
const page = () => ({ cross_origin_isolated: crossOriginIsolated, visibility: document.visibilityState, timer_quantum_us: 5,
  hardware_concurrency: navigator.hardwareConcurrency, user_agent: navigator.userAgent, webgpu: !!navigator.gpu,
  wasm_relaxed_simd: true, wasm_memory64: true });
const facts = async () => {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) return { page: page() };
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  globalThis.adapterHeld = adapter;
  return { page: page(), adapter: { vendor, architecture, device, description, is_fallback: isFallbackAdapter, features: [], limits: {} } };
};
const steps = (phase) => { tell({ event: "steps", phase, first: 0, wall_ms: [1.5, 2], loss: [5.5, 5.25] }); };
const done = (phase) => facts().then((all) => tell({ event: "done", phase, steps: 2, ...all }));
globalThis.assay = {
  facts,
  prepare: async (config) => tell({ event: "prepared", arm: config.arm, threads: 1, weights_sha256: "0".repeat(64),
    batches_sha256: "1".repeat(64), corpus_sha256: "2".repeat(64), parameters: 10, cold_start: { compile: 1 }, wait: "none", variant: {} }),
  warmup: async () => { steps("warmup"); done("warmup"); },
  measure: async () => { steps("measure"); )" +
           misbehave + R"(; done("measure"); },
};
facts().then((all) => tell({ event: "ready", arms: ["webgpu"], ...all }));
</script>)";
}

namespace {

const char* kind_of(const arm_event& event) {
    constexpr const char* kinds[] = {"ready", "prepared", "steps", "done", "error"};
    return kinds[event.body.index()];
}

task<result<void>> run_phase(arm_host* host, arm_phase phase, visit* seen, std::chrono::milliseconds silence,
                             std::function<void()> interfere) {
    auto started = co_await host->start(phase);
    if (!started) co_return started;
    for (;;) {
        auto event = co_await host->next_event(silence);
        if (!event) co_return event.error();
        seen->events.emplace_back(kind_of(*event));
        if (std::holds_alternative<done_event>(event->body)) co_return result<void>();
        if (interfere) std::exchange(interfere, nullptr)();
    }
}

task<result<void>> run_arm(arm_host* host, visit* seen, std::chrono::milliseconds silence,
                           std::function<void()> interfere) {
    auto opened = co_await host->open();
    if (!opened) co_return opened.error();
    seen->opened = std::move(*opened);
    arm_config config;
    config.arm = "webgpu";
    config.model = {1, 32, 16, 2, 2};
    config.steps = 2;
    auto prepared = co_await host->prepare(config);
    if (!prepared) co_return prepared.error();
    auto warm = co_await run_phase(host, arm_phase::warmup, seen, silence, {});
    if (!warm) co_return warm;
    auto measured = co_await run_phase(host, arm_phase::measure, seen, silence, std::move(interfere));
    if (!measured) co_return measured;
    auto views = co_await host->adapter();
    if (!views) co_return views.error();
    seen->adapter = std::move(*views);
    co_return result<void>();
}

task<bool> whole_visit(arm_host* host, visit* seen, std::chrono::milliseconds silence,
                       std::function<void()> interfere) {
    auto outcome = co_await run_arm(host, seen, silence, std::move(interfere));
    if (!outcome) seen->failure = outcome.error();
    seen->closed = co_await host->close();
    co_return true;
}

fs::path only_profile(const fs::path& home) {
    for (const auto& entry : fs::directory_iterator(home / "profiles")) return entry.path();
    return {};
}

}  // namespace

visit visit_page(const page_site& site, const std::string& path, std::chrono::milliseconds silence,
                 const interference& interfere, const std::vector<std::string>& extra_switches,
                 const fs::path& browser) {
    temporary_folder home;
    real_clock time;
    system_random random;
    boost::asio::io_context context;
    chrome_host_options options;
    options.launch.binary = browser;
    options.launch.home = home.path();
    options.launch.switches =
        chrome_switches(detect_conditions(flavour_of(options.launch.binary), gpu_mode::none), extra_switches);
    options.page_url = site.origin() + path;
    options.limits.launch = std::chrono::seconds(10);
    options.limits.page = std::chrono::seconds(20);
    options.limits.call = std::chrono::seconds(4);
    visit seen;
    std::function<void()> act;
    if (interfere) act = [&] { interfere(only_profile(home.path())); };
    const auto started = std::chrono::steady_clock::now();
    {
        const auto host = make_chrome_host(std::move(options), time, random);
        run_task(context, whole_visit(host.get(), &seen, silence, std::move(act)));
    }
    seen.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    seen.profile_left = fs::exists(home.path() / "profiles") && !fs::is_empty(home.path() / "profiles");
    const auto commands = make_system_commands();
    seen.processes_left = static_cast<int>(processes_of_profile(home.path().string(), *commands).size());
    return seen;
}

visit visit_attached(const page_site& site, const std::string& path, const std::string& websocket_url,
                     std::chrono::milliseconds silence) {
    real_clock time;
    system_random random;
    boost::asio::io_context context;
    chrome_host_options options;
    options.attach_url = websocket_url;
    options.page_url = site.origin() + path;
    visit seen;
    const auto host = make_chrome_host(std::move(options), time, random);
    run_task(context, whole_visit(host.get(), &seen, silence, {}));
    return seen;
}

}  // namespace assay::test
