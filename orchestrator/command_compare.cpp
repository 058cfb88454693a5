// `assay compare A B`: may the two be compared, and what does the comparison say?
#include <iostream>

#include "analysis/comparability.hpp"
#include "analysis/fail_condition.hpp"
#include "command_options.hpp"
#include "receipt_source.hpp"

namespace assay {

int command_compare(const compare_options& options) {
    std::optional<fail_condition> condition;
    if (options.fail_if) {
        auto parsed = parse_fail_condition(*options.fail_if);
        if (!parsed) return report_error(parsed.error());
        condition = std::move(*parsed);
    }
    const receipt_source source{options.home, options.store};
    auto first = load_receipt(source, options.first);
    if (!first) return report_error(first.error());
    auto second = load_receipt(source, options.second);
    if (!second) return report_error(second.error());

    const comparison outcome = compare(*first, *second);
    std::cout << (options.json ? comparison_json(*first, *second, outcome) + "\n"
                               : comparison_text(*first, *second, outcome));
    if (!outcome.comparable) return exit_inconclusive;
    if (!condition) return exit_verified;
    auto holds = fail_condition_holds(*condition, comparison_figures(*first, *second, outcome));
    if (!holds) return report_error(holds.error());
    if (!*holds) return exit_verified;
    std::cerr << "assay: the condition holds: " << *options.fail_if << '\n';
    return exit_inconclusive;
}

}  // namespace assay
