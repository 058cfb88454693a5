// One notice to one webhook.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "client/http_client.hpp"
#include "contract/run_notice.hpp"
#include "core/clock.hpp"

namespace assay::notify {

/// "sha256=" and the hexadecimal HMAC-SHA256 (RFC 2104), keyed by the secret, of the timestamp, a full stop and the body: a
/// receiver computes the same and refuses old timestamps.
std::string webhook_signature(std::string_view secret, std::int64_t unix_seconds, std::string_view body);

/// What came of one attempt.
enum class delivery { delivered, may_be_tried_again, refused };
struct delivery_outcome {
    delivery result = delivery::delivered;
    std::string why;  ///< empty where delivered
};

/// Sends the notice once: POST with Assay-Delivery, Assay-Timestamp and Assay-Signature. 2xx is delivered; no answer, 408,
/// 425, 429 and 5xx may be tried again; anything else is refused for good. Redirects are not followed.
delivery_outcome deliver(client::http_client& client, const run_notice& notice, std::string_view secret,
                         const clock& time, std::chrono::milliseconds limit);

/// How long to wait before the attempt that follows `attempts`: 1, 4, 16, 64 s ... at most five minutes.
std::chrono::milliseconds retry_pause(int attempts);

/// After so many attempts a notice is given up.
inline constexpr int max_delivery_attempts = 8;

}  // namespace assay::notify
