// `assay keygen`: makes this machine's signing key, or shows it; rotates it on request.
#include <iostream>

#include "command_options.hpp"
#include "core/clock.hpp"
#include "receipt/signing_key.hpp"
#include "receipt/trust.hpp"
#include "run/home.hpp"

namespace assay {

int report_error(const error& cause) {
    std::cerr << "assay: " << cause.text() << '\n';
    switch (cause.code) {
        case error_code::invalid_argument:
        case error_code::not_found:
        case error_code::too_large:
        case error_code::unsupported_version: return exit_usage;
        case error_code::forbidden: return exit_refused;
        default: return exit_failed;
    }
}

int command_keygen(const keygen_options& options) {
    auto home = open_home(options.home);
    if (!home) return report_error(home.error());
    auto identity = load_or_make_identity(home->root);
    if (!identity) return report_error(identity.error());
    if (options.rotate) {
        auto rotated = rotate_key(home->root, format_utc(real_clock().now()));
        if (!rotated) return report_error(rotated.error());
        identity = std::move(rotated->identity);
    }
    const public_key& shown = identity->key.public_half();
    std::cout << "machine     " << identity->machine_id << "\nkey id      " << shown.id() << "\nkey file    "
              << home->key().string() << "\npublic key  " << public_key_text(shown);
    return exit_verified;
}

}  // namespace assay
