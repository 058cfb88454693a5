#include "remote_server.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "contract/lab_messages.hpp"
#include "receipt/atomic_file.hpp"

namespace assay {
namespace {

constexpr auto call_limit = std::chrono::seconds(30);
constexpr auto quiet_limit = std::chrono::seconds(45);  // the server says something every 15 s
constexpr int max_reconnects = 20;
constexpr std::size_t max_token_bytes = 4096;
constexpr std::size_t max_event_bytes = 4u << 20;

error error_of(const client::client_answer& answer, const std::string& asked) {
    const auto facts = read_problem(answer.body);
    const std::string text = "the server answered " + asked + " with " + std::to_string(answer.status) +
                             (facts.detail.empty() ? "" : ": " + facts.detail);
    switch (answer.status) {
        case 400:
        case 415:
        case 422: return {error_code::invalid_argument, text};
        case 401: return {error_code::unauthorized, text, "ASSAY_TOKEN", "Give a token by ASSAY_TOKEN or --token-file."};
        case 403: return {error_code::forbidden, text};
        case 404: return {error_code::not_found, text};
        case 409: return {error_code::conflict, text};
        case 413: return {error_code::too_large, text};
        default: return {error_code::unavailable, text};
    }
}

}  // namespace

result<std::string> read_token(const std::optional<std::string>& file) {
    if (!file) {
        const char* variable = std::getenv("ASSAY_TOKEN");
        return std::string(variable == nullptr ? "" : variable);
    }
    auto text = read_whole_file(*file, max_token_bytes);
    if (!text) return text.error();
    text->resize(std::min(text->find_first_of("\r\n"), text->size()));
    return std::move(*text);
}

remote_server::remote_server(std::string url, client::url_parts server, std::string token, std::optional<std::string> ca_file)
    : url_(std::move(url)), base_path_(server.target), client_(std::move(server), std::move(token), std::move(ca_file)) {
    while (base_path_.ends_with('/')) base_path_.pop_back();
}

result<std::unique_ptr<remote_server>> remote_server::open(const remote_options& options) {
    auto server = client::parse_url(options.server, "--server");
    if (!server) return server.error();
    auto token = read_token(options.token_file);
    if (!token) return token.error();
    try {
        return std::unique_ptr<remote_server>(
            new remote_server(options.server, std::move(*server), std::move(*token), options.ca_file));
    } catch (const std::exception& failure) {
        return error{error_code::invalid_argument, "the authority's file cannot be used: " + std::string(failure.what()), "--ca"};
    }
}

result<client::client_answer> remote_server::ask(const std::string& method, const std::string& target, std::string body) {
    const client::client_request request{method, base_path_ + target, std::move(body)};
    auto answer = client_.call(request, call_limit);
    if (answer && answer->status >= 300) return error_of(*answer, method + " " + target);
    return answer;
}

result<std::string> remote_server::get(const std::string& target) {
    auto answer = ask("GET", target, {});
    if (!answer) return answer.error();
    return std::move(answer->body);
}

result<run_facts> remote_server::start_run(const std::string& request_text) {
    auto answer = ask("POST", "/api/v1/runs", request_text);
    if (!answer) return answer.error();
    return parse_run_facts(answer->body);
}

result<run_facts> remote_server::find_run(const std::string& id) {
    auto answer = ask("GET", "/api/v1/runs/" + id, {});
    if (!answer) return answer.error();
    return parse_run_facts(answer->body);
}

result<run_facts> remote_server::cancel_run(const std::string& id) {
    auto answer = ask("DELETE", "/api/v1/runs/" + id, {});
    if (!answer) return answer.error();
    return parse_run_facts(answer->body);
}

result<void> remote_server::follow(const std::string& id,
                                   const std::function<bool(std::string_view, std::string_view)>& take) {
    const std::string target = "/api/v1/runs/" + id + "/events";
    std::string last_id;
    bool ended = false;
    error broken;
    for (int attempt = 0; attempt < max_reconnects && !ended; ++attempt) {
        if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
        client::client_request request{"GET", base_path_ + target};
        request.headers.emplace_back("Accept", "text/event-stream");
        if (!last_id.empty()) request.headers.emplace_back("Last-Event-ID", last_id);
        event_splitter splitter;
        const auto answer = client_.stream(request, quiet_limit, [&](std::string_view bytes) {
            for (const auto& event : splitter.take(bytes)) {
                if (!event.id.empty()) last_id = event.id;
                attempt = 0;
                if (!take(event.kind, event.data) || event.kind == "done") {
                    ended = true;
                    return false;
                }
            }
            return true;
        });
        if (answer && answer->status != 200) return error_of(*answer, "GET " + target);
        if (client_.interrupted()) return error{error_code::cancelled, "stopped"};
        broken = answer ? error{error_code::unavailable, "the server ended the events of run " + id + " early"} : answer.error();
    }
    if (!ended) return broken;
    return {};
}

std::vector<event_splitter::event> event_splitter::take(std::string_view bytes) {
    kept_ += bytes;
    std::vector<event> out;
    for (auto end = kept_.find("\n\n"); end != std::string::npos; end = kept_.find("\n\n")) {
        event each;
        std::string_view rest = std::string_view(kept_).substr(0, end);
        while (!rest.empty()) {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), line.size() + 1));
            const auto colon = line.find(':');
            if (colon == 0 || colon == std::string_view::npos) continue;
            auto value = line.substr(colon + 1);
            if (value.starts_with(' ')) value.remove_prefix(1);
            const auto field = line.substr(0, colon);
            if (field == "id") each.id = value;
            if (field == "event") each.kind = value;
            if (field == "data") each.data.append(each.data.empty() ? "" : "\n").append(value);
        }
        if (!each.data.empty()) out.push_back(std::move(each));
        kept_.erase(0, end + 2);
    }
    if (kept_.size() > max_event_bytes) kept_.clear();  // no event of ours is that long
    return out;
}

}  // namespace assay
