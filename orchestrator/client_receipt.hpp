// A run that a server did for the command line.
#pragma once

#include <string>

#include "command_options.hpp"
#include "contract/receipt.hpp"
#include "contract/run_request.hpp"

namespace assay {

struct client_receipt {
    receipt document;
    std::string file_bytes;  ///< the signed file as served
    std::string server_url;
};

/// Asks the server for the run, shows its progress on standard error, fetches its receipt and opens it. Blocks.
result<client_receipt> run_on_server(const run_request& request, const remote_options& options);

}  // namespace assay
