// What is told to a webhook when a run has ended, and how far the telling has come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace assay {

/// The news itself.
struct run_news {
    std::string run_id, state, ended_at;
    std::optional<std::string> receipt_id, verdict, machine_name, preset, label;
    std::vector<std::string> arms;
    std::optional<double> speedup;
};

/// The body sent: {"schema": "assay.notice/1.0", "id", "run_id", "state", "verdict", ...}. What is not known is absent.
std::string run_news_text(const run_news& news, std::string_view notice_id);

/// One notice to one address, until it is delivered or given up.
struct run_notice {
    std::string id;
    std::string url;
    std::string run_id;
    std::string created_at;
    std::string body;  ///< the same bytes at every attempt
    int attempts = 0;
    std::optional<std::string> last_error;
    std::optional<std::string> given_up_at;
};

/// How a notice is kept and how GET /api/v1/undelivered shows it. It holds no secret.
std::string run_notice_text(const run_notice& notice);
result<run_notice> parse_run_notice(std::string_view json_text);

}  // namespace assay
