// The one folder that `assay run` and `assay serve` share on a machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/result.hpp"

namespace assay {

/// Where things lie below the home.
struct home_layout {
    std::filesystem::path root;
    std::filesystem::path key() const { return root / "key"; }
    std::filesystem::path receipts() const { return root / "receipts"; }
    std::filesystem::path profiles() const { return root / "profiles"; }
    std::filesystem::path corpora() const { return root / "corpora"; }
    std::filesystem::path measurement_lock() const { return root / "measurement.lock"; }
    std::string default_store() const { return "sqlite://" + (root / "assay.db").string(); }
};

/// The home named, or $XDG_DATA_HOME/assay, or ~/.local/share/assay; its folders are made with mode 0700.
result<home_layout> open_home(const std::optional<std::string>& named);

}  // namespace assay
