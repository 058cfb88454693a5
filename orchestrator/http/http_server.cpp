#include "http/http_server.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <ctime>
#include <future>
#include <thread>

#include "http/connection.hpp"
#include "http/server_core.hpp"

namespace assay::http {
namespace asio = boost::asio;
namespace {

/// RFC 9110 §5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(utc_time time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[64];
    const auto length = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return std::string(text, length);
}

std::chrono::milliseconds tick_of(const http_limits& limits) {
    const auto shortest = std::min({limits.idle, limits.header, limits.body, limits.write, limits.event_poll * 4});
    return std::clamp(shortest / 4, std::chrono::milliseconds(5), std::chrono::milliseconds(250));
}

}  // namespace

struct http_server::implementation {
    std::shared_ptr<server_core> core;
    std::optional<asio::ip::tcp::acceptor> acceptor;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
    asio::steady_timer tick;
    asio::steady_timer accept_pause;
    std::shared_ptr<asio::ssl::context> tls;
    std::thread thread;
    std::uint16_t port = 0;
    std::uint64_t seen_progress = 0;
    bool started = false;

    implementation(http_server_options options, api_context api, work_executor* store_work)
        : core(std::make_shared<server_core>(std::move(options), std::move(api), store_work)),
          tick(core->io),
          accept_pause(core->io) {}

    asio::awaitable<void> accept_loop() {
        while (!core->stopping) {
            boost::system::error_code failed;
            auto socket = co_await acceptor->async_accept(asio::redirect_error(asio::use_awaitable, failed));
            if (core->stopping) co_return;
            if (failed) {
                // Out of descriptors, say: wait for connections to end instead of spinning.
                accept_pause.expires_after(std::chrono::milliseconds(50));
                co_await accept_pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
                continue;
            }
            if (core->connections.size() >= core->options.limits.connections) {
                socket.close(failed);
                continue;
            }
            socket.set_option(asio::ip::tcp::no_delay(true), failed);
            // Owned by core->connections; stop() ends every one of them.
            if (tls)
                asio::co_spawn(core->io, serve_tls(core, tls, std::move(socket)), asio::detached);
            else
                asio::co_spawn(core->io, serve_plain(core, std::move(socket)), asio::detached);
        }
    }

    /// One coarse clock for all connections: cuts those past their deadline and wakes readers of live events. Cheaper
    /// than a timer a connection, and nothing in here runs more often than the tick.
    asio::awaitable<void> tick_loop() {
        const auto interval = tick_of(core->options.limits);
        while (true) {
            core->coarse_now = core->api.time->steady_now();
            core->date = http_date(core->api.time->now());
            std::vector<std::shared_ptr<connection_base>> late;
            for (const auto& each : core->connections)
                if (each->deadline <= core->coarse_now) late.push_back(each);
            for (const auto& each : late) each->abort();
            if (core->api.progress) {
                if (const auto version = core->api.progress->version(); version != seen_progress) {
                    seen_progress = version;
                    for (const auto& each : core->connections)
                        if (each->streaming) each->wake();
                }
            }
            if (core->stopping && core->connections.empty()) co_return;
            tick.expires_after(interval);
            boost::system::error_code ignored;
            co_await tick.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
    }

    void begin_stop() {
        core->stopping = true;
        boost::system::error_code ignored;
        acceptor->close(ignored);
        accept_pause.cancel();
        std::vector<std::shared_ptr<connection_base>> quiet;
        for (const auto& each : core->connections) {
            if (each->idle) quiet.push_back(each);
            if (each->streaming) each->wake();
            each->deadline = std::min(each->deadline, core->coarse_now + core->options.limits.drain);
        }
        for (const auto& each : quiet) each->abort();
        tick.cancel();
    }
};

http_server::http_server(http_server_options options, api_context api, work_executor* store_work)
    : implementation_(std::make_unique<implementation>(std::move(options), std::move(api), store_work)) {}

http_server::~http_server() {
    stop();
}

result<void> http_server::start() {
    auto& self = *implementation_;
    const auto& options = self.core->options;
    if (!is_loopback_address(options.listen_address) && options.access.tokens.empty())
        return error{assay::error_code::invalid_argument,
                     "Other machines could reach " + options.listen_address + ", and no token is configured", "--listen",
                     "Add tokens to the configuration file, or listen on 127.0.0.1."};
    if (options.tls) {
        auto context = make_tls_context(*options.tls);
        if (!context) return context.error();
        self.tls = std::move(*context);
    }
    auto files = static_files::load(options.mounts);
    if (!files) return files.error();
    self.core->files = std::move(*files);
    boost::system::error_code failed;
    const auto address = asio::ip::make_address(options.listen_address, failed);
    if (failed)
        return error{assay::error_code::invalid_argument, "'" + options.listen_address + "' is not an IP address",
                     "--listen"};
    const asio::ip::tcp::endpoint endpoint(address, options.port);
    self.acceptor.emplace(self.core->io);
    self.acceptor->open(endpoint.protocol(), failed);
    if (!failed) self.acceptor->set_option(asio::ip::tcp::acceptor::reuse_address(true), failed);
    if (!failed) self.acceptor->bind(endpoint, failed);
    if (!failed) self.acceptor->listen(4096, failed);
    if (failed)
        return error{
            assay::error_code::io_error,
            "Cannot listen on " + options.listen_address + ":" + std::to_string(options.port) + ": " + failed.message(),
            "--listen"};
    self.port = self.acceptor->local_endpoint(failed).port();
    self.core->coarse_now = self.core->api.time->steady_now();
    self.core->date = http_date(self.core->api.time->now());
    self.work.emplace(self.core->io.get_executor());
    asio::co_spawn(self.core->io, self.accept_loop(), asio::detached);
    asio::co_spawn(self.core->io, self.tick_loop(), asio::detached);
    self.thread = std::thread([core = self.core] { core->io.run(); });
    self.started = true;
    return {};
}

std::uint16_t http_server::port() const {
    return implementation_->port;
}

void http_server::reconfigure(access_settings access, std::vector<std::string> allowed_hosts) {
    auto core = implementation_->core;
    asio::post(core->io, [core, access = std::move(access), allowed_hosts = std::move(allowed_hosts)]() mutable {
        core->tokens = token_table(std::move(access.tokens), access.anonymous_read);
        core->limiter = rate_limiter(access.requests_per_second, access.request_burst);
        core->hosts = host_policy(core->options.listen_address, std::move(allowed_hosts));
    });
}

result<void> http_server::reload_certificate(const tls_files& files) {
    auto& self = *implementation_;
    if (!self.core->options.tls)
        return error{assay::error_code::invalid_argument,
                     "This server began without TLS; a certificate takes effect when it starts anew", "/tls"};
    auto context = make_tls_context(files);
    if (!context) return context.error();
    asio::post(self.core->io, [&self, context = std::move(*context)]() mutable { self.tls = std::move(context); });
    return {};
}

std::size_t http_server::open_connections() const {
    return implementation_->core->open_connections.load();
}

void http_server::stop() {
    auto& self = *implementation_;
    if (!self.started) return;
    self.started = false;
    asio::post(self.core->io, [&self] { self.begin_stop(); });
    self.work.reset();
    self.thread.join();
}

std::string http_server::origin() const {
    const auto& options = implementation_->core->options;
    const std::string scheme = options.tls ? "https" : "http";
    const std::string& host = options.listen_address;
    const bool is_any = host == "0.0.0.0" || host == "::";
    const bool is_v6 = host.find(':') != std::string::npos;
    const std::string name = is_any ? "127.0.0.1" : is_v6 ? "[" + host + "]" : host;
    return scheme + "://" + name + ":" + std::to_string(implementation_->port);
}

std::vector<std::pair<std::string, std::string>> http_server::asset_digests() const {
    return implementation_->core->files->asset_digests();
}

std::string http_server::publish_corpus(std::shared_ptr<const std::string> bytes, std::string_view sha256) {
    return implementation_->core->files->publish_corpus(*bytes, sha256);
}

}  // namespace assay::http
