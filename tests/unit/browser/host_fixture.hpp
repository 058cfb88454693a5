// A real Chromium, a home of its own and an arm page that a test can misuse.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "run/ports.hpp"
#include "support/page_site.hpp"
#include "support/temporary_folder.hpp"

namespace assay::test {

/// The Chromium that the tests use; throws when this machine has none, since a skipped test proves nothing.
std::filesystem::path test_browser();

/// An arm page in the contract's terms: `warmup` sends two steps and done. `misbehave` is script run by measure().
std::string arm_page(const std::string& misbehave);

/// What one visit to a page told.
struct visit {
    std::optional<arm_opened> opened;
    std::vector<std::string> events;  ///< kinds, in order
    std::optional<error> failure;     ///< the first one
    std::optional<adapter_views> adapter;
    arm_closed closed;
    double seconds = 0;
    bool profile_left = false;
    int processes_left = 0;
};

/// Called once while measure() runs, with the host's profile path.
using interference = std::function<void(const std::filesystem::path& profile)>;

/// Opens `path` of the site in a fresh browser, runs prepare, warmup and measure, closes, and looks at what is left.
/// `silence` bounds each wait for an event.
visit visit_page(const page_site& site, const std::string& path, std::chrono::milliseconds silence,
                 const interference& interfere = {}, const std::vector<std::string>& extra_switches = {},
                 const std::filesystem::path& browser = test_browser());

/// The same visit in a browser that runs already, behind this WebSocket.
visit visit_attached(const page_site& site, const std::string& path, const std::string& websocket_url,
                     std::chrono::milliseconds silence);

}  // namespace assay::test
