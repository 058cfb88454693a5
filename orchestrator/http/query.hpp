// Query fields read once, with the field named in every error.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/http_message.hpp"
#include "core/result.hpp"

namespace assay::http {

/// Refuses fields that are not in `known`, doubled ones, and values over 500 bytes. `pointer` is "?name".
result<void> check_query(const http_request& request, std::initializer_list<std::string_view> known);
/// Absent where the field is; an empty value counts as absent.
std::optional<std::string> query_text(const http_request& request, std::string_view name);
/// An integer within [low, high], or `otherwise` where the field is absent.
result<int> query_integer(const http_request& request, std::string_view name, int low, int high, int otherwise);
/// A time in UTC, kept as text in the form the store sorts by.
result<std::optional<std::string>> query_time(const http_request& request, std::string_view name);

}  // namespace assay::http
