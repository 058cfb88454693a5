// `assay token`: a new token, shown once.
#include <iostream>

#include "command_options.hpp"
#include "contract/json_writer.hpp"
#include "core/random.hpp"
#include "http/token_table.hpp"

namespace assay {

int command_token(const token_options& options) {
    system_random random;
    const auto made = http::make_token(random);
    json_array scopes;
    for (const auto& scope : options.scopes) scopes.add(scope);
    const std::string entry =
        json_object().add("name", options.name).add("sha256", made.sha256).raw("scopes", scopes.text()).text();
    std::cout << json_object().add("token", made.token).raw("configuration", entry).text() << '\n';
    std::cerr << "assay: keep the token; the server's configuration file takes the entry, which holds its SHA-256 alone\n";
    return exit_verified;
}

}  // namespace assay
