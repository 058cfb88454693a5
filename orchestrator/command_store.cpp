// `assay store copy`, `assay store backup` and `assay store prune`.
#include <iostream>

#include "application.hpp"
#include "command_options.hpp"
#include "core/clock.hpp"
#include "retention_loop.hpp"
#include "run/home.hpp"
#include "store/copy_store.hpp"
#include "store/open_store.hpp"

namespace assay {

int command_store_copy(const store_copy_options& options) {
    const real_clock time;
    const auto copied = copy_store(options.from, options.to, time);
    if (!copied) return report_error(copied.error());
    for (const auto& table : *copied) std::cout << table.name << ": " << table.rows << " rows copied and compared\n";
    return exit_verified;
}

int command_store_prune(const store_prune_options& options) {
    if (!options.receipts_days && !options.runs_days)
        return report_error({error_code::invalid_argument, "Nothing to remove was named", "--receipts-days",
                             "Give --receipts-days, --runs-days or both."});
    auto home = open_home(options.home);
    if (!home) return report_error(home.error());
    const std::string url = options.store.value_or(home->default_store());
    const real_clock time;
    const auto report = apply_retention_to_home(url, *home, {options.receipts_days, options.runs_days}, time);
    if (!report) return report_error(report.error());
    std::cout << report->receipts.size() << " receipts and " << report->runs << " runs removed\n";
    return exit_verified;
}

int command_store_backup(const store_backup_options& options) {
    std::string url;
    if (options.store) {
        url = *options.store;
    } else {
        auto home = open_home(options.home);
        if (!home) return report_error(home.error());
        url = home->default_store();
    }
    const real_clock time;
    if (auto done = back_up_store(url, options.file, time); !done) return report_error(done.error());
    std::cout << store_url_for_display(url) << " backed up to " << options.file << "\n";
    return exit_verified;
}

}  // namespace assay
