#include "lab/hub_client.hpp"

#include "contract/lab_messages.hpp"

namespace assay::lab {

result<hub_address> parse_hub_url(std::string_view url) {
    auto parts = client::parse_url(url, "--hub");
    if (!parts) return parts.error();
    hub_address out{parts->secure, std::move(parts->host), std::move(parts->port), std::move(parts->target)};
    if (out.base_path.find('?') != std::string::npos)
        return error{error_code::invalid_argument, "'" + std::string(url) + "' is not a hub", "--hub",
                     "Write https://HOST[:PORT], or http://HOST[:PORT] within a trusted network."};
    while (out.base_path.ends_with('/')) out.base_path.pop_back();
    return out;
}

hub_client::hub_client(hub_address address, std::string token, std::optional<std::string> ca_file)
    : client_({address.secure, address.host, address.port, {}}, std::move(token), std::move(ca_file)),
      base_path_(std::move(address.base_path)) {}

result<hub_answer> hub_client::call(std::string_view method, std::string_view path, std::string body,
                                    std::string content_type, std::chrono::milliseconds limit) {
    client::client_request request{std::string(method), base_path_ + std::string(path), std::move(body),
                                   std::move(content_type)};
    return client_.call(request, limit);
}

result<hub_answer> hub_client::call_json(std::string_view method, std::string_view path, std::string body,
                                         std::chrono::milliseconds limit) {
    return call(method, path, std::move(body), "application/json", limit);
}

void hub_client::pause(std::chrono::milliseconds duration) {
    std::unique_lock held(mutex_);
    changed_.wait_for(held, duration, [this] { return stopped_; });
}

void hub_client::interrupt() {
    const std::lock_guard held(mutex_);
    stopped_ = true;
    client_.interrupt();
    changed_.notify_all();
}

bool hub_client::interrupted() const {
    const std::lock_guard held(mutex_);
    return stopped_;
}

error error_of_answer(const hub_answer& answer, std::string_view asked) {
    const auto facts = read_problem(answer.body);
    const std::string text = "the hub answered " + std::string(asked) + " with " + std::to_string(answer.status) +
                             (facts.detail.empty() ? "" : ": " + facts.detail);
    switch (answer.status) {
        case 400:
            return {error_code::invalid_argument, text};
        case 401:
            return {error_code::unauthorized, text, "--token"};
        case 403:
            return {error_code::forbidden, text};
        case 404:
            return {error_code::not_found, text};
        case 409:
            return {error_code::conflict, text};
        case 413:
            return {error_code::too_large, text};
        case 422:
            return {error_code::corrupt, text};
        default:
            return {error_code::unavailable, text};
    }
}

}  // namespace assay::lab
