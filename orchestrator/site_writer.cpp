#include "site_writer.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "contract/json_writer.hpp"
#include "http/documents.hpp"
#include "receipt/envelope.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Present in every site, and so the sign that a folder holds one.
constexpr const char* list_file = "data/receipts.json";
/// Holds the new files until all are there.
constexpr const char* unfinished = ".assay-site-unfinished";

error cannot(const std::string& what, const fs::path& path, const std::error_code& failure) {
    return {error_code::io_error, "'" + path.string() + "' could not be " + what + ": " + failure.message()};
}

result<void> make_folder(const fs::path& path) {
    std::error_code failure;
    fs::create_directories(path, failure);
    if (failure) return cannot("made", path, failure);
    return {};
}

result<void> write_file(const fs::path& path, std::string_view bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) return error{error_code::io_error, "'" + path.string() + "' could not be written"};
    return {};
}

result<std::vector<http::compared_receipt>> open_newest(const std::vector<site_receipt>& receipts) {
    std::vector<http::compared_receipt> out;
    for (const site_receipt& each : receipts) {
        if (out.size() == max_compared_receipts) break;
        auto opened = open_envelope(each.file_bytes);
        if (!opened) return opened.error();
        auto document = parse_receipt(opened->receipt_text);
        if (!document) return document.error();
        out.push_back({std::move(*document), each.summary});
    }
    return out;
}

/// One file a receipt: its comparisons, as the baseline, with every other one.
result<std::size_t> write_comparisons(const fs::path& folder, const std::vector<site_receipt>& receipts) {
    if (auto made = make_folder(folder); !made) return made.error();
    auto opened = open_newest(receipts);
    if (!opened) return opened.error();
    for (const auto& first : *opened) {
        json_array comparisons;
        for (const auto& second : *opened)
            if (&first != &second) comparisons.raw(http::comparison_document(first, second));
        const std::string text = json_object().raw("comparisons", comparisons.text()).text();
        if (auto written = write_file(folder / (first.summary.id + ".json"), text); !written) return written.error();
    }
    return opened->size();
}

result<written_site> write_data(const fs::path& data, const std::vector<site_receipt>& receipts) {
    if (auto made = make_folder(data / "receipts"); !made) return made.error();
    receipt_page page;
    for (const site_receipt& each : receipts) {
        page.receipts.push_back(each.summary);
        const fs::path file = data / "receipts" / (each.summary.id + ".assay.json");
        if (auto written = write_file(file, each.file_bytes); !written) return written.error();
    }
    for (const auto& [name, text] : {std::pair("receipts.json", http::receipt_list_document(page)),
                                     std::pair("curve.json", http::curve_document(page.receipts)),
                                     std::pair("machines.json", http::machine_list_document(page.receipts))})
        if (auto written = write_file(data / name, text); !written) return written.error();
    auto compared = write_comparisons(data / "compare", receipts);
    if (!compared) return compared.error();
    return written_site{receipts.size(), *compared};
}

/// Puts every name of the new site in the place of the old one.
result<void> move_into_place(const fs::path& made, const fs::path& folder) {
    std::error_code failure;
    std::vector<fs::path> names;
    for (const auto& each : fs::directory_iterator(made, failure)) names.push_back(each.path().filename());
    for (const fs::path& name : names) {
        fs::remove_all(folder / name, failure);
        if (!failure) fs::rename(made / name, folder / name, failure);
        if (failure) return cannot("replaced", folder / name, failure);
    }
    fs::remove_all(made, failure);
    return {};
}

result<void> check_place(const fs::path& folder, const fs::path& shell) {
    std::error_code failure;
    if (!fs::is_regular_file(shell / "index.html", failure))
        return error{error_code::not_found, "The site's pages are not at " + shell.string(), "--web-root",
                     "Build them with ./tools/run.sh, or name the folder of all pages with --web-root DIR."};
    if (fs::exists(folder, failure) && !fs::is_directory(folder, failure))
        return error{error_code::conflict, "'" + folder.string() + "' is a file"};
    if (fs::exists(folder / list_file, failure)) return {};
    for (const char* name : {"index.html", "assets", "data"})
        if (fs::exists(folder / name, failure))
            return error{error_code::conflict,
                         "'" + (folder / name).string() + "' is there and was not written by assay site",
                         {},
                         "Name an empty folder, a new one, or one that holds an earlier site."};
    return {};
}

}  // namespace

result<written_site> write_site(const fs::path& folder, const fs::path& shell,
                                const std::vector<site_receipt>& receipts) {
    if (auto checked = check_place(folder, shell); !checked) return checked.error();
    const fs::path made = folder / unfinished;
    std::error_code failure;
    fs::remove_all(made, failure);
    if (auto ready = make_folder(made); !ready) return ready.error();
    fs::copy(shell, made, fs::copy_options::recursive, failure);
    if (failure) return cannot("copied", shell, failure);
    // Some hosts leave out files whose names begin with "_" unless this file says not to.
    if (auto written = write_file(made / ".nojekyll", ""); !written) return written.error();
    auto written = write_data(made / "data", receipts);
    if (!written) return written.error();
    if (auto moved = move_into_place(made, folder); !moved) return moved.error();
    return written;
}

}  // namespace assay
