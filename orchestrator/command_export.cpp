// `assay export`: receipts as CSV, JSON Lines, Markdown or a badge, on standard output.
#include <iostream>
#include <span>

#include "analysis/export.hpp"
#include "command_options.hpp"
#include "receipt_source.hpp"

namespace assay {

int command_export(const export_options& options) {
    const receipt_source source{options.home, options.store};
    std::vector<receipt> receipts;
    for (const std::string& named : options.receipts) {
        auto loaded = load_receipt(source, named);
        if (!loaded) return report_error(loaded.error());
        receipts.push_back(std::move(*loaded));
    }
    const export_table table = options.table == "arms"       ? export_table::arms
                               : options.table == "receipts" ? export_table::receipts
                                                             : export_table::steps;
    if (options.format == "csv") std::cout << export_csv(receipts, table);
    if (options.format == "jsonl") std::cout << export_json_lines(receipts, table);
    for (const receipt& document : receipts) {
        if (options.format == "markdown") std::cout << markdown_summary(document) << '\n';
        if (options.format == "badge") std::cout << svg_badge(document);
    }
    return exit_verified;
}

}  // namespace assay
