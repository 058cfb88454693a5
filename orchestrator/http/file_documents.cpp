#include "http/file_documents.hpp"

#include <algorithm>

#include "receipt/atomic_file.hpp"

namespace assay::http {
namespace {

constexpr std::size_t max_document_bytes = 1 << 20;
constexpr std::string_view ending = ".json";

bool is_plain(std::string_view name) {
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
}

result<void> check_names(std::string_view kind, std::string_view id) {
    if (is_plain(kind) && is_plain(id)) return {};
    return error{error_code::not_found, "There is no " + std::string(kind) + " '" + std::string(id) + "'"};
}

}  // namespace

result<void> file_documents::put(std::string_view kind, std::string_view id, std::string_view text) {
    if (auto checked = check_names(kind, id); !checked) return checked;
    const auto folder = root_ / std::string(kind);
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        return error{error_code::io_error, "Cannot make the folder " + folder.string() + ": " + failed.message()};
    return write_file_atomically(folder / (std::string(id) + std::string(ending)), text, 0600);
}

result<std::optional<std::string>> file_documents::get(std::string_view kind, std::string_view id) {
    if (auto checked = check_names(kind, id); !checked) return std::optional<std::string>();
    auto text =
        read_whole_file(root_ / std::string(kind) / (std::string(id) + std::string(ending)), max_document_bytes);
    if (text) return std::optional<std::string>(std::move(*text));
    if (text.error().code == error_code::not_found) return std::optional<std::string>();
    return text.error();
}

result<std::vector<std::pair<std::string, std::string>>> file_documents::list(std::string_view kind) {
    std::vector<std::pair<std::string, std::string>> found;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(root_ / std::string(kind), failed)) {
        const auto name = entry.path().filename().string();
        if (!name.ends_with(ending)) continue;
        const auto id = name.substr(0, name.size() - ending.size());
        auto text = get(kind, id);
        if (!text) return text.error();
        if (*text) found.emplace_back(id, std::move(**text));
    }
    std::sort(found.begin(), found.end());
    return found;
}

result<void> file_documents::remove(std::string_view kind, std::string_view id) {
    if (auto checked = check_names(kind, id); !checked) return checked;
    std::error_code failed;
    std::filesystem::remove(root_ / std::string(kind) / (std::string(id) + std::string(ending)), failed);
    if (failed) return error{error_code::io_error, "Cannot remove the document: " + failed.message()};
    return {};
}

}  // namespace assay::http
