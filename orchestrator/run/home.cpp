#include "run/home.hpp"

#include <cstdlib>

namespace assay {
namespace fs = std::filesystem;
namespace {

std::optional<fs::path> from_environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return fs::path(value);
}

std::optional<fs::path> default_root() {
    if (const auto data = from_environment("XDG_DATA_HOME"); data && data->is_absolute()) return *data / "assay";
    if (const auto home = from_environment("HOME")) return *home / ".local" / "share" / "assay";
    return std::nullopt;
}

}  // namespace

result<home_layout> open_home(const std::optional<std::string>& named) {
    std::optional<fs::path> root = named ? std::optional<fs::path>(*named) : default_root();
    if (!root || root->empty())
        return error{error_code::invalid_argument, "There is no home folder: HOME and XDG_DATA_HOME are both unset",
                     "--home", "Name one with --home DIR."};
    std::error_code failure;
    home_layout home{fs::absolute(*root, failure)};
    for (const fs::path& folder : {home.root, home.receipts(), home.profiles(), home.corpora()}) {
        const bool made = fs::create_directories(folder, failure);
        if (failure)
            return error{error_code::io_error, "The folder " + folder.string() + " cannot be made: " + failure.message(),
                         "--home", "Name a folder that you may write with --home DIR."};
        // Receipts and the key are the machine's own; a folder that was there keeps the mode its owner chose.
        if (made) fs::permissions(folder, fs::perms::owner_all, failure);
    }
    return home;
}

}  // namespace assay
