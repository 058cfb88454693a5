// Numbers as people and tools read them.
#pragma once

#include <string>

namespace assay {

/// The shortest decimal that reads back as the same double: for facts that tools parse.
std::string exact_text(double value);
/// Significant digits, no exponent between 1e-4 and 1e9: "10.7", "0.00213".
std::string number_text(double value, int significant_digits);
/// A fraction as a percentage with two significant digits: 0.0123 is "1.2 %".
std::string percent_text(double fraction);
/// A time with its unit, three significant digits: "1.46 s", "137 ms", "4.12 ms", "85.0 us".
std::string milliseconds_text(double milliseconds);
/// A count of floating-point operations: "26.3 GFLOP".
std::string flops_text(double operations);

}  // namespace assay
