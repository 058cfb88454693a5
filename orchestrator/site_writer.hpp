// A static site: the dashboard's shell for plain files, the chosen receipts, and what the views ask of a server.
#pragma once

#include <filesystem>
#include <vector>

#include "core/result.hpp"
#include "site_receipts.hpp"

namespace assay {

/// The compare view has an answer for every pair of the newest so many receipts; their number grows with its square.
inline constexpr std::size_t max_compared_receipts = 100;

/// What was written.
struct written_site {
    std::size_t receipts = 0;
    std::size_t compared = 0;  ///< of the newest ones, each with each
};

/// Writes the site into `folder`, made where missing. Its own files there (of an earlier site) are replaced once all
/// new ones are on disk; files of others stay. A conflict where a file in the way is not an earlier site's; io_error
/// names what could not be written. `shell` is the built share/assay/web/site.
result<written_site> write_site(const std::filesystem::path& folder, const std::filesystem::path& shell,
                                const std::vector<site_receipt>& receipts);

}  // namespace assay
