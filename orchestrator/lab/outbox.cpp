#include "lab/outbox.hpp"

#include <algorithm>

#include "core/ids.hpp"
#include "receipt/atomic_file.hpp"
#include "receipt/envelope.hpp"

namespace assay::lab {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_entry_bytes = 1 << 20;

const std::string& name_of(const agent_journal_entry& entry) {
    return entry.end_reason ? entry.grant.run : entry.receipt_id;
}

bool is_whole(const agent_journal_entry& entry, const std::string& name) {
    return entry.delivery.has_value() != entry.end_reason.has_value() && name_of(entry) == name;
}

}  // namespace

result<outbox> outbox::open(const fs::path& home) {
    const auto folder = home / "agent";
    std::error_code failure;
    for (const char* part : {"waiting", "refused"})
        if (fs::create_directories(folder / part, failure); failure)
            return error{error_code::io_error, "cannot make " + (folder / part).string() + ": " + failure.message()};
    return outbox(folder);
}

result<void> outbox::begin(const lease_grant& grant) const {
    return write_file_atomically(folder_ / "current.json", journal_text({grant, {}, {}, {}}), 0600);
}

result<std::optional<lease_grant>> outbox::current() const {
    const auto text = read_whole_file(folder_ / "current.json", max_entry_bytes);
    if (!text) {
        if (text.error().code == error_code::not_found) return std::optional<lease_grant>();
        return text.error();
    }
    auto entry = parse_journal(*text);
    if (!entry) {
        std::error_code failure;
        fs::rename(folder_ / "current.json", folder_ / "refused" / "current.json", failure);
        if (failure) return entry.error();
        return std::optional<lease_grant>();
    }
    return std::optional(entry->grant);
}

void outbox::end_current() const {
    std::error_code ignored;
    fs::remove(folder_ / "current.json", ignored);
}

result<void> outbox::add(const agent_journal_entry& entry, std::string_view file_bytes) const {
    if (!is_sortable_id(entry.receipt_id))
        return error{error_code::invalid_argument, "a receipt in the outbox needs an id"};
    // The entry comes last: an entry without its file would be a promise that cannot be kept.
    if (auto written = write_file_atomically(file_path(entry.receipt_id), file_bytes, 0600); !written) return written;
    return write_file_atomically(entry_path(entry.receipt_id), journal_text(entry), 0600);
}

result<void> outbox::add_end(const lease_grant& grant, std::string_view reason) const {
    if (!is_sortable_id(grant.run)) return error{error_code::invalid_argument, "an end in the outbox needs a run's id"};
    return write_file_atomically(entry_path(grant.run), journal_text({grant, {}, {}, std::string(reason)}), 0600);
}

result<std::vector<agent_journal_entry>> outbox::waiting() const {
    std::error_code failure;
    std::vector<std::string> ids;
    for (const auto& file : fs::directory_iterator(folder_ / "waiting", failure)) {
        const auto id = file.path().stem().string();
        if (file.path().extension() == ".json" && is_sortable_id(id)) ids.push_back(id);
    }
    if (failure) return error{error_code::io_error, "cannot read the outbox: " + failure.message()};
    std::sort(ids.begin(), ids.end());
    std::vector<agent_journal_entry> out;
    for (const auto& id : ids) {
        const auto text = read_whole_file(entry_path(id), max_entry_bytes);
        if (!text) return text.error();
        auto entry = parse_journal(*text);
        if (entry && is_whole(*entry, id)) {
            out.push_back(std::move(*entry));
        } else {
            agent_journal_entry damaged;
            damaged.receipt_id = id;
            refused(damaged, "the outbox entry is damaged");
        }
    }
    return out;
}

result<std::string> outbox::file_of(const agent_journal_entry& entry) const {
    return read_whole_file(file_path(entry.receipt_id), max_receipt_file_bytes);
}

void outbox::delivered(const agent_journal_entry& entry) const {
    std::error_code ignored;
    fs::remove(entry_path(name_of(entry)), ignored);
    if (!entry.end_reason) fs::remove(file_path(entry.receipt_id), ignored);
}

void outbox::refused(const agent_journal_entry& entry, std::string_view why) const {
    const auto folder = folder_ / "refused";
    std::error_code ignored;
    fs::rename(file_path(entry.receipt_id), folder / (entry.receipt_id + ".assay.json"), ignored);
    fs::rename(entry_path(entry.receipt_id), folder / (entry.receipt_id + ".json"), ignored);
    (void)write_file_atomically(folder / (entry.receipt_id + ".reason"), std::string(why) + "\n", 0600);
}

}  // namespace assay::lab
