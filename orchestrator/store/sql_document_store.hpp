// document_store over SQL.
#pragma once

#include <memory>

#include "run/document_store.hpp"
#include "store/sql_guard.hpp"

namespace assay {

/// A document_store on a connection of its own.
class sql_document_store final : public document_store {
  public:
    explicit sql_document_store(std::unique_ptr<sql_connection> connection) : guard_(std::move(connection)) {}

    result<void> put(std::string_view kind, std::string_view id, std::string_view text) override;
    result<std::optional<std::string>> get(std::string_view kind, std::string_view id) override;
    result<std::vector<std::pair<std::string, std::string>>> list(std::string_view kind) override;
    result<void> remove(std::string_view kind, std::string_view id) override;

  private:
    sql_guard guard_;
};

}  // namespace assay
