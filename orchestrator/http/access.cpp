#include "http/access.hpp"

#include <algorithm>
#include <cctype>

namespace assay::http {
namespace {

char lower(char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

/// "localhost:80" -> "localhost", "[::1]:80" -> "::1".
std::string_view without_port(std::string_view host) {
    if (host.starts_with('[')) {
        const auto end = host.find(']');
        return end == std::string_view::npos ? std::string_view() : host.substr(1, end - 1);
    }
    return host.substr(0, host.find(':'));
}

}  // namespace

host_policy::host_policy(std::string listen_address, std::vector<std::string> allowed_hosts)
    : names_{"127.0.0.1", "localhost", "::1", std::move(listen_address)} {
    names_.insert(names_.end(), allowed_hosts.begin(), allowed_hosts.end());
}

bool host_policy::allows_host(std::string_view host) const {
    const auto name = without_port(host);
    return !name.empty() && std::any_of(names_.begin(), names_.end(),
                                        [&](const std::string& known) { return equal_ignoring_case(known, name); });
}

bool host_policy::allows_origin(std::string_view origin, std::string_view host) const {
    if (origin.empty()) return true;
    for (const std::string_view scheme : {"http://", "https://"})
        if (origin.starts_with(scheme) && equal_ignoring_case(origin.substr(scheme.size()), host)) return true;
    return false;
}

bool is_loopback_address(std::string_view address) {
    return address == "::1" || address.starts_with("127.");
}

}  // namespace assay::http
