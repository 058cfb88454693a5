// `assay runs`, `assay logs` and `assay cancel`, and the remote half of `assay run`: the command line as a client.
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "analysis/summary.hpp"
#include "client_receipt.hpp"
#include "contract/receipt.hpp"
#include "core/ids.hpp"
#include "progress_bar.hpp"
#include "receipt/envelope.hpp"
#include "remote_server.hpp"

namespace assay {
namespace {

/// Ids go into a path: only what the API could have given is sent.
result<void> check_id(const std::string& id) {
    if (is_sortable_id(id)) return {};
    return error{error_code::invalid_argument, "'" + id + "' is not a run's id", "id"};
}

std::string arms_text(const run_facts& run) {
    std::string text;
    for (const auto& arm : run.arms) text.append(text.empty() ? "" : ",").append(arm);
    return text.empty() ? "-" : text;
}

void print_run(const run_facts& run) {
    std::printf("%-26s  %-24s  %-11s  %-8s  %-24s  %s\n", run.id.c_str(), run.created_at.c_str(), run.state.c_str(),
                run.preset.c_str(), arms_text(run).c_str(), run.phase.value_or(run.label.value_or("")).c_str());
}

}  // namespace

int command_runs(const runs_options& options) {
    auto server = remote_server::open(options.remote);
    if (!server) return report_error(server.error());
    std::string target = "/api/v1/runs?limit=" + std::to_string(options.limit);
    if (options.state) target += "&state=" + *options.state;
    const auto text = (*server)->get(target);
    if (!text) return report_error(text.error());
    if (options.json) {
        std::cout << *text << '\n';
        return exit_verified;
    }
    const auto page = parse_run_facts_page(*text);
    if (!page) return report_error(page.error());
    std::printf("%-26s  %-24s  %-11s  %-8s  %-24s  %s\n", "run", "asked for", "state", "preset", "arms", "phase or label");
    for (const auto& run : page->runs) print_run(run);
    return exit_verified;
}

int command_logs(const logs_options& options) {
    if (auto checked = check_id(options.run); !checked) return report_error(checked.error());
    auto server = remote_server::open(options.remote);
    if (!server) return report_error(server.error());
    const auto run = (*server)->find_run(options.run);
    if (!run) return report_error(run.error());
    if (!options.follow) {
        print_run(*run);
        if (run->error) std::cout << *run->error << '\n';
        if (run->receipt_id) std::cout << "receipt " << *run->receipt_id << '\n';
        return exit_verified;
    }
    std::function<bool(std::string_view, std::string_view)> print = [](std::string_view kind, std::string_view data) {
        std::cout << kind << ' ' << data << '\n' << std::flush;
        return static_cast<bool>(std::cout);
    };
    if (auto followed = (*server)->follow(options.run, print); !followed) return report_error(followed.error());
    return exit_verified;
}

int command_cancel(const cancel_options& options) {
    if (auto checked = check_id(options.run); !checked) return report_error(checked.error());
    auto server = remote_server::open(options.remote);
    if (!server) return report_error(server.error());
    const auto run = (*server)->cancel_run(options.run);
    if (!run) return report_error(run.error());
    print_run(*run);
    return exit_verified;
}

result<client_receipt> run_on_server(const run_request& request, const remote_options& options) {
    auto server = remote_server::open(options);
    if (!server) return server.error();
    const auto run = (*server)->start_run(run_request_text(request));
    if (!run) return run.error();
    std::cerr << "assay: run " << run->id << " at " << (*server)->url() << '\n';
    {
        progress_bar bar(std::cerr, isatty(STDERR_FILENO) != 0);
        std::function<bool(std::string_view, std::string_view)> show = [&bar](std::string_view kind, std::string_view data) {
            bar.take(kind, data);
            return true;
        };
        if (auto followed = (*server)->follow(run->id, show); !followed) return followed.error();
    }
    const auto ended = (*server)->find_run(run->id);
    if (!ended) return ended.error();
    if (!ended->receipt_id)
        return error{error_code::not_found, "run " + run->id + " ended as " + ended->state + " without a receipt" +
                                                (ended->error ? ": " + *ended->error : "")};
    auto bytes = (*server)->get("/api/v1/runs/" + run->id + "/receipt");
    if (!bytes) return bytes.error();
    const auto opened = open_envelope(*bytes);
    if (!opened) return opened.error();
    auto document = parse_receipt(opened->receipt_text);
    if (!document) return document.error();
    return client_receipt{std::move(*document), std::move(*bytes), (*server)->url()};
}

}  // namespace assay
