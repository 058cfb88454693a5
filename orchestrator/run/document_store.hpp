// Small documents that are not runs or receipts: schedules, undelivered notices. By kind and id, whole texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace assay {

/// Durable; calls may block. `kind` is a plain lower-case word, `id` letters, digits and '-'.
class document_store {
  public:
    virtual ~document_store() = default;
    /// Adds or replaces.
    virtual result<void> put(std::string_view kind, std::string_view id, std::string_view text) = 0;
    virtual result<std::optional<std::string>> get(std::string_view kind, std::string_view id) = 0;
    /// Every document of a kind by ascending id.
    virtual result<std::vector<std::pair<std::string, std::string>>> list(std::string_view kind) = 0;
    /// Removing what is not there is fine.
    virtual result<void> remove(std::string_view kind, std::string_view id) = 0;
};

}  // namespace assay
