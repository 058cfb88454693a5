#include <algorithm>

#include "client/http_client.hpp"

namespace assay::client {

std::string url_parts::authority() const {
    const bool is_v6 = host.find(':') != std::string::npos;
    const std::string name = is_v6 ? "[" + host + "]" : host;
    return port == (secure ? "443" : "80") ? name : name + ":" + port;
}

result<url_parts> parse_url(std::string_view url, std::string_view named_by) {
    const error wrong{error_code::invalid_argument, "'" + std::string(url) + "' is not a server's URL",
                      std::string(named_by), "Write http://HOST[:PORT] or https://HOST[:PORT]."};
    const bool odd_letter =
        std::any_of(url.begin(), url.end(), [](unsigned char letter) { return letter <= ' ' || letter == 0x7f; });
    if (odd_letter) return wrong;
    url_parts out;
    if (url.starts_with("https://")) {
        url.remove_prefix(8);
    } else if (url.starts_with("http://")) {
        out.secure = false;
        url.remove_prefix(7);
    } else {
        return wrong;
    }
    const auto end = std::min(url.find_first_of("/?"), url.size());
    out.target = url.substr(end);
    if (out.target.starts_with('?')) out.target.insert(0, "/");
    const auto authority = url.substr(0, end);
    const auto colon = authority.ends_with(']') ? std::string_view::npos : authority.rfind(':');
    out.host = authority.substr(0, colon);
    out.port = colon == std::string_view::npos ? (out.secure ? "443" : "80") : std::string(authority.substr(colon + 1));
    if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
        out.host = out.host.substr(1, out.host.size() - 2);
    const bool odd_port = out.port.empty() || out.port.size() > 5 ||
                          out.port.find_first_not_of("0123456789") != std::string::npos;
    if (out.host.empty() || odd_port || url.find_first_of("@#") != std::string_view::npos) return wrong;
    return out;
}

}  // namespace assay::client
