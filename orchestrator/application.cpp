#include "application.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <thread>

#include "browser/arm_launcher.hpp"
#include "browser/environment_reader.hpp"
#include "browser/profile_folder.hpp"
#include "gate_factory.hpp"
#include "receipt/receipt_files.hpp"
#include "store/open_store.hpp"

namespace assay {
namespace fs = std::filesystem;
namespace {

/// More threads than this never paid on the machines measured; a request may still ask for them.
constexpr int max_default_threads = 16;

fs::path own_folder() {
    std::error_code failure;
    const fs::path self = fs::read_symlink("/proc/self/exe", failure);
    return failure ? fs::current_path() : self.parent_path();
}

}  // namespace

result<installed_files> find_installed_files(const shared_options& options) {
    std::error_code failure;
    std::vector<fs::path> tried;
    if (options.web_root) {
        const fs::path web = *options.web_root;
        if (fs::is_directory(web / "arm", failure)) return installed_files{web.string(), (web / ".." / "policies").string()};
        tried.push_back(web);
    } else {
        const fs::path share = own_folder() / ".." / "share" / "assay";
        if (fs::is_directory(share / "web" / "arm", failure)) {
            const fs::path plain = fs::weakly_canonical(share, failure);
            return installed_files{(plain / "web").string(), (plain / "policies").string()};
        }
        tried.push_back(share / "web");
    }
    return error{error_code::not_found, "The pages are not at " + tried.front().string(), "--web-root",
                 "Build them with ./tools/run.sh, or name their folder with --web-root DIR."};
}

result<listen_address> parse_listen(const std::string& text) {
    const error wrong{error_code::invalid_argument, "'" + text + "' is not an address", "--listen",
                      "Write HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080."};
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || colon + 1 == text.size()) return wrong;
    listen_address out;
    out.host = text.substr(0, colon);
    if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
        out.host = out.host.substr(1, out.host.size() - 2);
    if (out.host.empty()) return wrong;
    const char* end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data() + colon + 1, end, out.port);
    if (problem != std::errc() || rest != end) return wrong;
    return out;
}

void set_up_logging(const shared_options& options) {
    auto logger = spdlog::get("assay");
    if (!logger) logger = spdlog::stderr_color_mt("assay");
    spdlog::set_default_logger(logger);
    spdlog::set_level(spdlog::level::from_str(options.log_level));
    if (options.log_format == "json")
        spdlog::set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":"%v"})");
    else
        spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
}

/// Hands the API's news on to whoever listens at the moment; before and after that they are dropped, since the queue
/// looks at the store by itself.
struct application::forwarding_listener final : http::run_listener {
    void run_queued(const run_id& id) override {
        if (hub != nullptr) hub->wake();
        const std::lock_guard held(mutex);
        if (target != nullptr) target->run_queued(id);
    }
    void cancel_requested(const run_id& id) override {
        const std::lock_guard held(mutex);
        if (target != nullptr) target->cancel_requested(id);
    }
    std::mutex mutex;
    http::run_listener* target = nullptr;
    lab::lab_hub* hub = nullptr;  ///< set before the server starts
};

application::application() : progress_(make_sortable_id(clock_, random_)) {}
application::~application() = default;

void application::listen_to_runs(http::run_listener* listener) {
    const std::lock_guard held(listener_->mutex);
    listener_->target = listener;
}

result<std::unique_ptr<application>> application::open(const shared_options& options, const std::optional<std::string>& store,
                                                       const listen_address& listen, bool serve_api) {
    std::unique_ptr<application> app(new application());
    auto files = find_installed_files(options);
    if (!files) return files.error();
    auto home = open_home(options.home);
    if (!home) return home.error();
    // Profiles hold a lock while their owner lives: only those of a process that died are ended and removed.
    if (const sweep_report swept = sweep_profiles(home->root, *make_system_commands()); swept.folders_removed > 0)
        spdlog::warn("removed {} browser profiles of an earlier process and ended {} of its processes",
                     swept.folders_removed, swept.processes_ended.size());
    auto identity = load_or_make_identity(home->root);
    if (!identity) return identity.error();
    auto receipts = receipt_files::open(home->root);
    if (!receipts) return receipts.error();
    auto opened = open_store(store.value_or(home->default_store()), app->clock_);
    if (!opened) return opened.error();
    app->store_ = std::move(*opened);
    app->environment_ = make_environment_reader(identity->machine_id, home->root, ASSAY_VERSION, app->clock_);
    app->recorder_ = std::make_unique<receipt_recorder>(std::move(*identity), std::move(*receipts));
    app->store_thread_ = std::make_unique<blocking_executor>();
    app->listener_ = std::make_unique<forwarding_listener>();

    http::http_server_options server;
    server.listen_address = listen.host;
    server.port = listen.port;
    server.mounts = {{"/", files->web}};
    http::api_context api;
    api.version = ASSAY_VERSION;
    api.time = &app->clock_;
    api.random = &app->random_;
    if (serve_api) {
        api.store = app->store_.get();
        api.runs = app->listener_.get();
        api.progress = &app->progress_;
        const std::string url = store.value_or(home->default_store());
        auto policies = http::load_policy_texts(files->policies);
        if (!policies) return policies.error();
        api.policies = std::move(*policies);
        auto documents = open_document_store(url, app->clock_);
        if (!documents) return documents.error();
        app->documents_ = std::move(*documents);
        api.documents = app->documents_.get();
        app->schedules_ = std::make_unique<http::schedule_keeper>(*app->documents_, *app->store_, app->listener_.get(),
                                                                  app->clock_, app->random_);
        api.schedules = app->schedules_.get();
        auto machines = open_lab_store(url, app->clock_);
        if (!machines) return machines.error();
        app->lab_store_ = std::move(*machines);
        lab::hub_services hub;
        hub.runs = app->store_.get();
        hub.machines = app->lab_store_.get();
        hub.progress = &app->progress_;
        hub.time = &app->clock_;
        hub.random = &app->random_;
        app->hub_ = std::make_unique<lab::lab_hub>(hub);
        app->listener_->hub = app->hub_.get();
        server.endpoints = app->hub_->endpoints();
        if (is_postgresql_url(url))
            app->queue_watcher_ = std::make_unique<queue_watcher>(
                url, [listener = app->listener_.get()] { listener->run_queued(run_id()); });
    }
    app->server_ = std::make_unique<http::http_server>(std::move(server), api, app->store_thread_.get());
    if (auto started = app->server_->start(); !started) return started.error();
    if (app->schedules_)
        app->schedule_loop_ = std::make_unique<http::schedule_loop>(*app->schedules_, *app->store_thread_, std::chrono::seconds(5));

    launcher_options launcher;
    launcher.home = home->root;
    launcher.browser = options.browser;
    launcher.extra_switches = options.browser_switches;
    for (const std::string& text : options.browser_environment) {
        auto entry = parse_environment_entry(text);
        if (!entry) return entry.error();
        launcher.browser_environment.push_back(std::move(*entry));
    }
    std::error_code failure;
    if (const fs::path native = own_folder() / "assay-native-arm"; fs::exists(native, failure))
        launcher.commands["native"] = {native.string()};
    app->launcher_ = make_arm_launcher(std::move(launcher), app->clock_, app->random_);

    measurement_services& services = app->services_;
    services.run = {app->launcher_.get(), app->server_.get(), app->environment_.get(), &app->clock_, &app->progress_};
    services.store = app->store_.get();
    services.store_thread = app->store_thread_.get();
    services.recorder = app->recorder_.get();
    services.random = &app->random_;
    services.home = *home;
    services.default_threads =
        std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, max_default_threads);
    const policy_source source = serve_api ? policy_source::names_only : policy_source::names_and_files;
    services.gate = [policies = files->policies, source](const run_request& request) {
        return make_gate(policies, request, source, static_cast<int>(std::thread::hardware_concurrency()));
    };
    return app;
}

}  // namespace assay
