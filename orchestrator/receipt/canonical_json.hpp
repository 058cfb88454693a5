// JSON in its one canonical form, RFC 8785 (JCS): the form in which a receipt is hashed and signed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace assay {

/// One JSON value as the canonical form needs it. Objects are kept sorted by the UTF-16 code units of their keys.
struct canonical_value {
    // Defined where the type is complete: a pair that holds it cannot be asked before (clang insists).
    canonical_value();
    ~canonical_value();
    canonical_value(const canonical_value&);
    canonical_value(canonical_value&&) noexcept;
    canonical_value& operator=(const canonical_value&);
    canonical_value& operator=(canonical_value&&) noexcept;

    enum class kind { null, boolean, number, string, array, object };
    kind type = kind::null;
    /// A string's UTF-8 content; a number's canonical text; "true" or "false" of a boolean.
    std::string text;
    std::vector<canonical_value> items;
    std::vector<std::pair<std::string, canonical_value>> members;

    /// The member of that name, or null when this is no object or has none.
    const canonical_value* find(std::string_view name) const;
    static canonical_value of_string(std::string content);
    static canonical_value of_object(std::vector<std::pair<std::string, canonical_value>> members);
    static canonical_value of_array(std::vector<canonical_value> items);
};

/// Arrays and objects may nest this deep.
inline constexpr std::size_t max_json_depth = 64;

/// Reads RFC 8259 text strictly, as I-JSON (RFC 7493) asks: valid UTF-8, no lone surrogate, no duplicate key, numbers
/// within the range of a double, at most max_json_depth deep. Errors are error_code::corrupt and name the byte.
result<canonical_value> parse_strict_json(std::string_view text);

/// The canonical text of a value.
std::string canonical_text(const canonical_value& value);

/// parse_strict_json, then canonical_text.
result<std::string> canonicalise_json(std::string_view text);

/// A finite double as ECMAScript's Number::toString writes it (RFC 8785, 3.2.2.3); -0 is "0".
std::string ecmascript_number(double value);

}  // namespace assay
