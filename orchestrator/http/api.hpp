// What the API's handlers work with, and the table of its endpoints.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "core/clock.hpp"
#include "core/random.hpp"
#include "core/result.hpp"
#include "http/progress_ring.hpp"
#include "run/document_store.hpp"
#include "run/ports.hpp"

namespace assay::http {

struct api_endpoint;
class schedule_keeper;
class server_metrics;

/// Told by the API when the run queue has something to look at. Calls come from the store's thread and must not block.
class run_listener {
  public:
    virtual ~run_listener() = default;
    virtual void run_queued(const run_id& id) = 0;
    virtual void cancel_requested(const run_id& id) = 0;
};

/// What handlers may use. Everything outlives the server.
struct api_context {
    run_store* store = nullptr;
    run_listener* runs = nullptr;  ///< may be null
    progress_ring* progress = nullptr;
    const clock* time = nullptr;
    random_source* random = nullptr;
    std::string version;                                       ///< of this program
    schedule_keeper* schedules = nullptr;                      ///< may be null: no schedules are kept
    document_store* documents = nullptr;                       ///< may be null: undelivered notices are not shown
    std::map<std::string, std::string, std::less<>> policies;  ///< JSON texts by name
    // set by the server
    server_metrics* metrics = nullptr;
    std::function<std::size_t()> connections;
};

/// The JSON texts of a folder's policies ("apple-metal-3.json" by "apple-metal-3"). io_error names the folder.
result<std::map<std::string, std::string, std::less<>>> load_policy_texts(const std::string& folder);

/// Every built-in endpoint.
std::span<const api_endpoint> api_endpoints();

}  // namespace assay::http
