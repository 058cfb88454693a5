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
#include "log_formats.hpp"
#include "receipt/receipt_files.hpp"
#include "run/run_log.hpp"
#include "store/open_store.hpp"

namespace assay {
namespace fs = std::filesystem;
namespace {

/// More threads than this never paid on the machines measured; a request may still ask for them.
constexpr int max_default_threads = 16;

const std::string default_listen = "127.0.0.1:8080";

http::access_settings access_of(const server_config& config) {
    return {config.tokens, config.anonymous_read, config.requests_per_second, config.request_burst};
}

retention_rules retention_of(const server_config& config) {
    return {config.keep_receipts_days, config.keep_runs_days};
}

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
        if (fs::is_directory(web / "arm", failure))
            return installed_files{web.string(), (web / ".." / "policies").string()};
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
    auto logger = spdlog::get(service_log_name);
    if (!logger) logger = spdlog::stderr_color_mt(service_log_name);
    spdlog::set_default_logger(logger);
    spdlog::set_level(spdlog::level::from_str(options.log_level.value_or("warn")));
    spdlog::set_formatter(options.log_format == "json" ? make_json_log_formatter() : make_text_log_formatter());
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

result<std::unique_ptr<application>> application::open(const shared_options& options,
                                                       const std::optional<std::string>& store,
                                                       const listen_address& listen, bool serve_api) {
    const server_config defaults;
    return open(options, store, listen, serve_api ? &defaults : nullptr);
}

result<std::unique_ptr<application>> application::open(const shared_options& options, const server_config& config) {
    auto listen = parse_listen(config.listen.value_or(default_listen));
    if (!listen) return listen.error();
    return open(options, config.store, *listen, &config);
}

result<void> application::reconfigure(const server_config& config) {
    if (config.tls_certificate && config.tls_key)
        if (auto reloaded = server_->reload_certificate({*config.tls_certificate, *config.tls_key}); !reloaded)
            return reloaded;
    server_->reconfigure(access_of(config), config.allowed_hosts);
    notifier_->configure({config.webhooks, config.hooks});
    retention_->configure(retention_of(config));
    return {};
}

result<std::unique_ptr<application>> application::open(const shared_options& options,
                                                       const std::optional<std::string>& store,
                                                       const listen_address& listen, const server_config* config) {
    const bool serve_api = config != nullptr;
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
    if (config != nullptr) {
        server.access = access_of(*config);
        server.allowed_hosts = config->allowed_hosts;
        server.limits.connections = static_cast<std::size_t>(config->max_connections);
        server.limits.header_bytes = static_cast<std::size_t>(config->max_header_bytes);
        server.limits.body_bytes = static_cast<std::size_t>(config->max_body_bytes);
        if (config->tls_certificate && config->tls_key)
            server.tls = http::tls_files{*config->tls_certificate, *config->tls_key};
    }
    // The measured browser trusts no certificate of ours and knows one address: plain HTTP on 127.0.0.1.
    const bool needs_page_server = server.tls || (listen.host != "127.0.0.1" && listen.host != "0.0.0.0");
    http::http_server_options pages;
    pages.mounts = server.mounts;
    http::api_context api;
    api.version = ASSAY_VERSION;
    api.time = &app->clock_;
    api.random = &app->random_;
    if (needs_page_server) app->page_server_ = std::make_unique<http::http_server>(std::move(pages), api, nullptr);
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
        notify::notifier_services news;
        news.store = app->store_.get();
        news.documents = app->documents_.get();
        news.time = &app->clock_;
        news.random = &app->random_;
        news.next = &app->progress_;
        news.receipts_folder = home->receipts().string();
        news.scratch_folder = (home->root / "notices").string();
        app->notifier_ = std::make_unique<notify::run_notifier>(
            std::move(news), notify::notifier_settings{config->webhooks, config->hooks});
        app->retention_ = std::make_unique<retention_loop>(url, *home, app->clock_, retention_of(*config));
        app->schedules_ = std::make_unique<http::schedule_keeper>(*app->documents_, *app->store_, app->listener_.get(),
                                                                  app->clock_, app->random_);
        api.schedules = app->schedules_.get();
        auto machines = open_lab_store(url, app->clock_);
        if (!machines) return machines.error();
        app->lab_store_ = std::move(*machines);
        lab::hub_services hub;
        hub.runs = app->store_.get();
        hub.machines = app->lab_store_.get();
        hub.progress = app->notifier_.get();
        hub.time = &app->clock_;
        hub.random = &app->random_;
        hub.policies = files->policies;
        hub.trust_at_sight = !config->approve_machines;
        app->hub_ = std::make_unique<lab::lab_hub>(hub);
        app->listener_->hub = app->hub_.get();
        server.endpoints = app->hub_->endpoints();
        if (is_postgresql_url(url))
            app->queue_watcher_ = std::make_unique<queue_watcher>(
                url, [listener = app->listener_.get()] { listener->run_queued(run_id()); });
    }
    app->server_ = std::make_unique<http::http_server>(std::move(server), api, app->store_thread_.get());
    if (auto started = app->server_->start(); !started) return started.error();
    if (app->page_server_)
        if (auto started = app->page_server_->start(); !started) return started.error();
    if (app->schedules_)
        app->schedule_loop_ =
            std::make_unique<http::schedule_loop>(*app->schedules_, *app->store_thread_, std::chrono::seconds(5));

    launcher_options launcher;
    launcher.home = home->root;
    launcher.browser = options.browser;
    launcher.attach = options.attach;
    if (options.silence_seconds) launcher.limits = limits_for_silence(std::chrono::seconds(*options.silence_seconds));
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
    http::http_server* const arm_pages = app->page_server_ ? app->page_server_.get() : app->server_.get();
    progress_sink* const events = app->notifier_ ? static_cast<progress_sink*>(app->notifier_.get()) : &app->progress_;
    services.run = {app->launcher_.get(), arm_pages, app->environment_.get(), &app->clock_, events};
    services.store = app->store_.get();
    services.store_thread = app->store_thread_.get();
    services.recorder = app->recorder_.get();
    services.random = &app->random_;
    if (options.silence_seconds) services.silence_limit = std::chrono::seconds(*options.silence_seconds);
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
