// A server on a free port with a served folder, a store in memory and short limits.
#pragma once

#include <filesystem>
#include <fstream>

#include "core/blocking_executor.hpp"
#include "core/random.hpp"
#include "http/http_server.hpp"
#include "support/http_probe.hpp"
#include "support/memory_run_store.hpp"
#include "support/temporary_folder.hpp"

namespace assay::test {

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
}

struct noted_runs final : http::run_listener {
    void run_queued(const run_id& id) override { queued.push_back(id.text()); }
    void cancel_requested(const run_id& id) override { cancelled.push_back(id.text()); }
    std::vector<std::string> queued, cancelled;
};

struct server_fixture {
    temporary_folder folder;
    real_clock time;
    seeded_random random{7};
    memory_run_store store;
    noted_runs runs;
    http::progress_ring progress{"epoch"};
    blocking_executor store_work;
    std::unique_ptr<http::http_server> server;

    explicit server_fixture(http::http_server_options options = {}) {
        const auto web = folder.path() / "web";
        write_file(web / "arm/index.html", "<!doctype html><title>arm</title>");
        write_file(web / "dashboard/index.html", "<!doctype html><title>dashboard</title>");
        write_file(web / "dashboard/assets/main.js", std::string(5000, 'x'));
        write_file(web / "playground/index.html", "<!doctype html><title>playground</title>");
        write_file(web / "shaders/gemm.wgsl", "// gemm");
        write_file(web / "wasm/trainer.wasm", std::string("\0asm", 4));
        write_file(web / "arm/module.mjs", "export {};");
        write_file(folder.path() / "secret.txt", "not served");
        options.mounts = {{"/", web}};
        http::api_context api;
        api.store = &store;
        api.runs = &runs;
        api.progress = &progress;
        api.time = &time;
        api.random = &random;
        api.version = "0.1.0";
        server = std::make_unique<http::http_server>(std::move(options), api, &store_work);
        server->start().value();
    }

    http_answer ask(std::string_view method, std::string_view target, std::string_view headers = {},
                    std::string_view body = {}) {
        return http_probe(server->port()).ask(method, target, headers, body);
    }
};

}  // namespace assay::test
