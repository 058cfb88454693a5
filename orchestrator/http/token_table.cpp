#include "http/token_table.hpp"

#include <algorithm>
#include <array>

#include "receipt/digest.hpp"

namespace assay::http {

made_token make_token(random_source& random) {
    std::array<std::byte, 32> bytes{};
    random.fill(bytes);
    made_token made;
    made.token = "assay_" + to_hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    made.sha256 = sha256_hex(made.token);
    return made;
}

bool scope_includes(token_scope granted, token_scope needed) {
    if (needed == token_scope::none || granted == token_scope::admin || granted == needed) return true;
    return needed == token_scope::read && (granted == token_scope::trigger || granted == token_scope::agent);
}

result<std::string> token_table::check(std::optional<std::string_view> authorization, token_scope needed) const {
    if (tokens_.empty() || needed == token_scope::none) return std::string();
    if (!authorization) {
        if (anonymous_read_ && needed == token_scope::read) return std::string();
        return error{
            error_code::unauthorized, "This needs a token", "Authorization",
            "Send 'Authorization: Bearer TOKEN' with a token of scope " + std::string(scope_name(needed)) + "."};
    }
    constexpr std::string_view scheme = "Bearer ";
    const auto digest =
        authorization->starts_with(scheme) ? sha256_hex(authorization->substr(scheme.size())) : std::string();
    const configured_token* found = nullptr;
    for (const auto& each : tokens_)
        if (equal_in_constant_time(each.sha256, digest)) found = &each;
    if (!found) return error{error_code::unauthorized, "The token is not known", "Authorization"};
    const bool allowed = std::any_of(found->scopes.begin(), found->scopes.end(),
                                     [&](token_scope granted) { return scope_includes(granted, needed); });
    if (!allowed)
        return error{error_code::forbidden,
                     "The token '" + found->name + "' lacks the scope " + std::string(scope_name(needed)),
                     "Authorization"};
    return found->name;
}

}  // namespace assay::http
