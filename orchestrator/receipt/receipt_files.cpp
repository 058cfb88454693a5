#include "receipt/receipt_files.hpp"

#include <algorithm>

#include "receipt/atomic_file.hpp"
#include "receipt/envelope.hpp"

namespace assay {
namespace {

constexpr std::string_view file_suffix = ".assay.json";

}  // namespace

result<receipt_files> receipt_files::open(const std::filesystem::path& home) {
    const auto folder = home / "receipts";
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) return error{error_code::io_error, "cannot make " + folder.string() + ": " + failure.message()};
    return receipt_files(folder);
}

std::filesystem::path receipt_files::path_of(const receipt_id& id) const {
    return folder_ / (id.text() + std::string(file_suffix));
}

result<std::filesystem::path> receipt_files::write(const receipt_id& id, std::string_view file_bytes) const {
    // Only ids of our own making become file names, so that none can leave the folder.
    if (!is_sortable_id(id.text()))
        return error{error_code::invalid_argument, "\"" + id.text() + "\" is not a receipt id"};
    const auto path = path_of(id);
    const auto written = write_file_atomically(path, file_bytes, 0644, when_present::refuse);
    if (!written) {
        if (written.error().code != error_code::conflict) return written.error();
        const auto present = read(id);
        if (!present) return present.error();
        if (*present != file_bytes)
            return error{error_code::conflict, path.string() + " holds another receipt already"};
    }
    return path;
}

result<std::string> receipt_files::read(const receipt_id& id) const {
    if (!is_sortable_id(id.text()))
        return error{error_code::invalid_argument, "\"" + id.text() + "\" is not a receipt id"};
    return read_whole_file(path_of(id), max_receipt_file_bytes);
}

result<std::vector<receipt_id>> receipt_files::list() const {
    std::error_code failure;
    std::vector<receipt_id> ids;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, failure)) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with(file_suffix)) continue;
        const std::string id = name.substr(0, name.size() - file_suffix.size());
        if (is_sortable_id(id)) ids.emplace_back(id);
    }
    if (failure) return error{error_code::io_error, "cannot read " + folder_.string() + ": " + failure.message()};
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace assay
