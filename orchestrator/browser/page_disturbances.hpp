// What each DevTools event of a page means for its arm: pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace assay {

/// What to do about one event.
struct page_observation {
    std::optional<std::string> line;  ///< to keep as a console line
    std::optional<error> failure;     ///< the arm ends with this
    bool dismiss_dialog = false;
};

/// Looks at one event of the page's session. `navigated` says whether the main frame has committed its first document, and
/// is updated. Reasons: "page-crashed", "dialog", "navigated-away", "page-unreachable", "exception", "console-error",
/// "page-closed".
page_observation look_at_page_event(std::string_view method, const nlohmann::json& parameters, std::string_view url,
                                    bool& navigated);

/// The failure for a page whose process ended: "out-of-memory" when the browser says so, else "page-crashed".
error page_crash(std::string_view status, int error_code);

/// Whether a browser's last lines say that a process of it had no memory left: the status of a crash does not on Linux.
bool says_out_of_memory(const std::vector<std::string>& lines);

/// The words of a Runtime.ExceptionDetails.
std::string exception_text(const nlohmann::json& details);

inline constexpr std::size_t max_console_line_bytes = 2000;

}  // namespace assay
