// Documents as files of the home folder: ROOT/<kind>/<id>.json, each replaced in one step.
#pragma once

#include <filesystem>

#include "run/document_store.hpp"

namespace assay::http {

class file_documents final : public document_store {
  public:
    /// `root` is made when the first document is put.
    explicit file_documents(std::filesystem::path root) : root_(std::move(root)) {}

    result<void> put(std::string_view kind, std::string_view id, std::string_view text) override;
    result<std::optional<std::string>> get(std::string_view kind, std::string_view id) override;
    result<std::vector<std::pair<std::string, std::string>>> list(std::string_view kind) override;
    result<void> remove(std::string_view kind, std::string_view id) override;

  private:
    std::filesystem::path root_;
};

}  // namespace assay::http
