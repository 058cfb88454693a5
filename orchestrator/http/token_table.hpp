// Tokens: made once, shown once, kept as hashes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/server_config.hpp"
#include "core/http_message.hpp"
#include "core/random.hpp"
#include "core/result.hpp"

namespace assay::http {

/// A new token: 256 random bits in hexadecimal behind "assay_", and its SHA-256 for the configuration file.
struct made_token {
    std::string token;
    std::string sha256;
};
made_token make_token(random_source& random);

/// The configured tokens. Without any, everything is allowed (the server is then reachable from this machine only).
class token_table {
  public:
    token_table() = default;
    token_table(std::vector<configured_token> tokens, bool anonymous_read)
        : tokens_(std::move(tokens)), anonymous_read_(anonymous_read) {}

    bool empty() const { return tokens_.empty(); }
    /// Checks an Authorization header ("Bearer assay_...") against the scope needed. Errors: unauthorized without a
    /// known token, forbidden where the token lacks the scope. Every token is compared, in constant time.
    result<std::string> check(std::optional<std::string_view> authorization, token_scope needed) const;

  private:
    std::vector<configured_token> tokens_;
    bool anonymous_read_ = false;
};

/// admin holds every scope; trigger and agent hold read.
bool scope_includes(token_scope granted, token_scope needed);

}  // namespace assay::http
