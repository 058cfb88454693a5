// `assay site DIR`: the curve, the comparisons, chosen receipts and the in-browser verifier as plain files.
#include <iostream>

#include "application.hpp"
#include "command_options.hpp"
#include "site_writer.hpp"

namespace assay {

int command_site(const site_options& options) {
    const auto files = find_installed_files(options.shared);
    if (!files) return report_error(files.error());
    const auto found = collect_site_receipts({options.receipts, options.verdicts, options.presets, options.machines,
                                              options.evidence, options.shared.home, options.store});
    if (!found) return report_error(found.error());
    for (const error& fault : found->faults) report_error(fault);
    if (!found->faults.empty() && !options.leave_out_broken) {
        std::cerr << "assay: nothing was written; --leave-out-broken writes the site without these\n";
        return exit_inconclusive;
    }
    if (found->chosen.empty())
        return report_error({error_code::not_found,
                             "No receipt was chosen, so there is nothing to publish",
                             {},
                             "Name files, folders or ids, or loosen the filters."});
    const auto written = write_site(options.folder, std::filesystem::path(files->web) / "site", found->chosen);
    if (!written) return report_error(written.error());
    std::cout << options.folder << ": " << written->receipts << (written->receipts == 1 ? " receipt" : " receipts");
    if (!found->faults.empty()) std::cout << ", " << found->faults.size() << " left out";
    if (written->compared < written->receipts) std::cout << ", the newest " << written->compared << " compared";
    std::cout << "\nlook at it  python3 -m http.server --directory " << options.folder
              << "   then open http://127.0.0.1:8000/\n";
    return exit_verified;
}

}  // namespace assay
