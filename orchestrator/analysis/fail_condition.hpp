// The condition of --fail-if: "ratio<0.95", "ratio_high<1 or drift>0.01".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace assay {

/// One "name operator number".
struct fail_term {
    std::string name;
    std::string comparison;  ///< "<", "<=", ">", ">=", "==" or "!="
    double number = 0;
};

/// Terms joined by "and" (tighter) and "or": the outer list is of alternatives, each a list of terms that must all
/// hold.
struct fail_condition {
    std::vector<std::vector<fail_term>> alternatives;
};

/// Reads a condition; "&&" and "||" are taken too. Names are letters, digits and '_'.
result<fail_condition> parse_fail_condition(std::string_view text);

/// Whether the condition holds for these figures. A name that has no figure is an error that lists those there are: a
/// check whose figure is missing must not pass in silence.
result<bool> fail_condition_holds(const fail_condition& condition, const std::map<std::string, double>& figures);

}  // namespace assay
