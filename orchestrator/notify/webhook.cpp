#include "notify/webhook.hpp"

#include <algorithm>

#include "receipt/digest.hpp"

namespace assay::notify {

std::string webhook_signature(std::string_view secret, std::int64_t unix_seconds, std::string_view body) {
    return "sha256=" + hmac_sha256_hex(secret, std::to_string(unix_seconds) + "." + std::string(body));
}

delivery_outcome deliver(client::http_client& client, const run_notice& notice, std::string_view secret,
                         const clock& time, std::chrono::milliseconds limit) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time.now().time_since_epoch()).count();
    client::client_request request;
    request.method = "POST";
    request.target = client.server().target.empty() ? "/" : client.server().target;
    request.body = notice.body;
    request.headers = {{"Assay-Delivery", notice.id},
                       {"Assay-Timestamp", std::to_string(seconds)},
                       {"Assay-Signature", webhook_signature(secret, seconds, notice.body)},
                       {"User-Agent", "assay"}};
    const auto answer = client.call(request, limit);
    if (!answer) return {delivery::may_be_tried_again, answer.error().text()};
    const int status = answer->status;
    if (status >= 200 && status < 300) return {};
    const std::string why = "it answered with status " + std::to_string(status);
    const bool may_pass = status >= 500 || status == 408 || status == 425 || status == 429;
    return {may_pass ? delivery::may_be_tried_again : delivery::refused, why};
}

std::chrono::milliseconds retry_pause(int attempts) {
    constexpr std::chrono::milliseconds longest = std::chrono::minutes(5);
    std::chrono::milliseconds pause = std::chrono::seconds(1);
    for (int i = 1; i < attempts && pause < longest; ++i) pause *= 4;
    return std::min(pause, longest);
}

}  // namespace assay::notify
