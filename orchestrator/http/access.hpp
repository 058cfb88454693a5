// Who may ask: the Host and Origin headers, against DNS rebinding and cross-site requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/http_message.hpp"
#include "core/result.hpp"

namespace assay::http {

/// Checks the names a request goes by.
class host_policy {
  public:
    /// `listen_address` and the loopback names are always allowed; ports are not compared.
    host_policy(std::string listen_address, std::vector<std::string> allowed_hosts);

    /// True for a Host header ("localhost:8080") that names this server.
    bool allows_host(std::string_view host) const;
    /// An Origin header must be this very host; "null" and other sites are refused. Absent headers are fine, since
    /// browsers send one with every cross-site request that can change something.
    bool allows_origin(std::string_view origin, std::string_view host) const;

  private:
    std::vector<std::string> names_;
};

/// True for 127.0.0.0/8 and ::1.
bool is_loopback_address(std::string_view address);

}  // namespace assay::http
