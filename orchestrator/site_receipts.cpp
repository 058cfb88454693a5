#include "site_receipts.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "core/clock.hpp"
#include "core/ids.hpp"
#include "receipt/envelope.hpp"
#include "receipt/receipt_files.hpp"
#include "run/home.hpp"
#include "run/receipt_recorder.hpp"
#include "run/verify_receipt.hpp"
#include "store/open_store.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_ending = ".assay.json";
constexpr int page_size = 500;

bool passes(const std::vector<std::string>& wanted, std::string_view value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool passes(const site_choice& choice, const receipt_summary& summary) {
    return passes(choice.verdicts, summary.verdict) && passes(choice.presets, summary.preset) &&
           passes(choice.evidence, summary.evidence) &&
           (passes(choice.machines, summary.machine_id) || passes(choice.machines, summary.machine_name));
}

result<std::string> read_file(const fs::path& file) {
    std::error_code failure;
    const auto size = fs::file_size(file, failure);
    if (failure) return error{error_code::not_found, "'" + file.string() + "' cannot be read: " + failure.message()};
    if (size > max_receipt_file_bytes)
        return error{error_code::too_large, "'" + file.string() + "' is larger than any receipt"};
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    if (!in.good() && !in.eof())
        return error{error_code::io_error, "'" + file.string() + "' could not be read to its end"};
    return bytes;
}

/// The store and the home's files, opened when the first id is asked for.
class lookup {
  public:
    explicit lookup(const site_choice& choice) : choice_(choice) {}

    result<run_store*> store() {
        if (!store_) {
            auto home = open_home(choice_.home);
            if (!home) return home.error();
            auto opened = open_store(choice_.store.value_or(home->default_store()), time_);
            if (!opened) return opened.error();
            store_ = std::move(*opened);
            if (!choice_.store) {
                auto files = receipt_files::open(home->root);
                if (!files) return files.error();
                files_.emplace(std::move(*files));
            }
        }
        return store_.get();
    }

    result<std::string> bytes_of(const receipt_id& id) {
        auto rows = store();
        if (!rows) return rows.error();
        if (files_)
            if (auto bytes = files_->read(id)) return bytes;
        return (*rows)->receipt_file(id);
    }

  private:
    const site_choice& choice_;
    const real_clock time_;
    std::unique_ptr<run_store> store_;
    std::optional<receipt_files> files_;
};

/// Takes what is found, one file after another.
class collection {
  public:
    explicit collection(const site_choice& choice) : choice_(choice) {}

    void add(const std::string& named, const result<std::string>& bytes) {
        if (!bytes) return fault(bytes.error().code, named, bytes.error().message);
        receipt_verification found = verify_receipt(*bytes);
        if (!found.valid)
            return fault(error_code::signature_invalid, named,
                         "it does not verify: " + (found.reasons.empty() ? "no reason given" : found.reasons.front()));
        site_receipt each{summarise(*found.document, found.file_sha256), *bytes};
        if (!passes(choice_, each.summary)) return;
        const auto [known, is_new] = by_id_.emplace(each.summary.id, found.file_sha256);
        if (is_new) return found_.chosen.push_back(std::move(each));
        if (known->second != found.file_sha256)
            fault(error_code::conflict, named, "another file has the same receipt's id, " + each.summary.id);
    }

    void fault(error_code code, const std::string& named, const std::string& why) {
        found_.faults.push_back({code, "'" + named + "': " + why});
    }

    site_receipts take() {
        std::sort(found_.chosen.begin(), found_.chosen.end(), [](const site_receipt& one, const site_receipt& other) {
            return std::pair(one.summary.created_at, one.summary.id) >
                   std::pair(other.summary.created_at, other.summary.id);
        });
        return std::move(found_);
    }

  private:
    const site_choice& choice_;
    site_receipts found_;
    std::map<std::string, std::string> by_id_;
};

void add_folder(const fs::path& folder, collection& found) {
    std::vector<fs::path> files;
    std::error_code failure;
    for (fs::directory_iterator each(folder, failure), end; !failure && each != end; each.increment(failure))
        if (each->path().filename().string().ends_with(file_ending)) files.push_back(each->path());
    if (failure) return found.fault(error_code::io_error, folder.string(), failure.message());
    if (files.empty())
        return found.fault(error_code::not_found, folder.string(),
                           "the folder holds no receipt (*" + std::string(file_ending) + ")");
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) found.add(file.string(), read_file(file));
}

result<void> add_all(lookup& where, const site_choice& choice, collection& found) {
    auto store = where.store();
    if (!store) return store.error();
    receipt_filter filter;
    filter.limit = page_size;
    for (;;) {
        const auto page = (*store)->list_receipts(filter);
        if (!page) return page.error();
        for (const receipt_summary& summary : page->receipts)
            if (passes(choice, summary)) found.add(summary.id, where.bytes_of(receipt_id(summary.id)));
        if (!page->next) return {};
        filter.cursor = page->next;
    }
}

}  // namespace

result<site_receipts> collect_site_receipts(const site_choice& choice) {
    lookup where(choice);
    collection found(choice);
    std::error_code ignored;
    for (const std::string& named : choice.named) {
        if (fs::is_directory(named, ignored))
            add_folder(named, found);
        else if (fs::exists(named, ignored))
            found.add(named, read_file(named));
        else if (is_sortable_id(named))
            found.add(named, where.bytes_of(receipt_id(named)));
        else
            found.fault(error_code::not_found, named, "it is no file, no folder and no receipt's id");
    }
    if (choice.named.empty())
        if (auto added = add_all(where, choice, found); !added) return added.error();
    return found.take();
}

}  // namespace assay
