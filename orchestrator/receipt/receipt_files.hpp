// Receipts on disk: <home>/receipts/<id>.assay.json, whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"

namespace assay {

/// The folder of one home's receipt files.
class receipt_files {
  public:
    /// Makes <home>/receipts where it is missing.
    static result<receipt_files> open(const std::filesystem::path& home);

    std::filesystem::path path_of(const receipt_id& id) const;
    /// Writes atomically and flushes to disk. The same bytes again are no error; other bytes under an id that is there
    /// are a conflict.
    result<std::filesystem::path> write(const receipt_id& id, std::string_view file_bytes) const;
    result<std::string> read(const receipt_id& id) const;
    /// The ids of all receipts, oldest first. Unfinished temporary files and foreign names are passed over.
    result<std::vector<receipt_id>> list() const;

  private:
    explicit receipt_files(std::filesystem::path folder) : folder_(std::move(folder)) {}
    std::filesystem::path folder_;
};

}  // namespace assay
