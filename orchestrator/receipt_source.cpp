#include "receipt_source.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "application.hpp"
#include "core/clock.hpp"
#include "core/ids.hpp"
#include "receipt/envelope.hpp"
#include "receipt/receipt_files.hpp"
#include "run/home.hpp"
#include "run/verify_receipt.hpp"
#include "store/open_store.hpp"

namespace assay {
namespace {

result<receipt> verified(const std::string& named, const std::string& bytes) {
    verify_options_of_key accepted;
    if (auto files = find_installed_files(shared_options{})) accepted.policies = files->policies;
    receipt_verification found = verify_receipt(bytes, accepted);
    if (!found.valid)
        return error{error_code::signature_invalid,
                     "'" + named + "' does not verify: " +
                         (found.reasons.empty() ? std::string("no reason given") : found.reasons.front())};
    return std::move(*found.document);
}

result<receipt> read_receipt_file(const std::string& named) {
    std::error_code failure;
    const auto size = std::filesystem::file_size(named, failure);
    if (failure) return error{error_code::not_found, "'" + named + "' cannot be read: " + failure.message()};
    if (size > max_receipt_file_bytes)
        return error{error_code::too_large, "'" + named + "' is larger than any receipt"};
    std::ifstream in(named, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    return verified(named, bytes);
}

result<receipt> read_from_store(const receipt_source& source, const home_layout& home, const std::string& named) {
    const real_clock time;
    auto store = open_store(source.store.value_or(home.default_store()), time);
    if (!store) return store.error();
    std::string id = named;
    if (!is_sortable_id(named)) {
        receipt_filter filter;
        filter.machine = named;
        filter.limit = 1;
        auto page = (*store)->list_receipts(filter);
        if (!page) return page.error();
        if (page->receipts.empty())
            return error{error_code::not_found,
                         "'" + named + "' is no file, no receipt's id and no machine with a receipt"};
        id = page->receipts.front().id;
    }
    auto bytes = (*store)->receipt_file(receipt_id(id));
    if (!bytes) return bytes.error();
    return verified(named, *bytes);
}

}  // namespace

result<receipt> load_receipt(const receipt_source& source, const std::string& named) {
    if (std::filesystem::exists(named)) return read_receipt_file(named);
    auto home = open_home(source.home);
    if (!home) return home.error();
    if (is_sortable_id(named) && !source.store) {
        auto files = receipt_files::open(home->root);
        if (!files) return files.error();
        if (auto bytes = files->read(receipt_id(named))) return verified(named, *bytes);
    }
    return read_from_store(source, *home, named);
}

}  // namespace assay
