// What an agent keeps on its disk: the run it has, and receipts that the hub does not have yet.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/lab_messages.hpp"
#include "core/result.hpp"

namespace assay::lab {

/// <home>/agent/: current.json, waiting/<receipt>.json with <receipt>.assay.json, waiting/<run>.json for a run that
/// ended without a receipt, refused/ for what the hub will not take.
class outbox {
  public:
    static result<outbox> open(const std::filesystem::path& home);

    result<void> begin(const lease_grant& grant) const;
    /// The run that was being measured when the process ended, or is. A damaged journal is moved to refused/: which run
    /// it was cannot be known any more.
    result<std::optional<lease_grant>> current() const;
    void end_current() const;

    /// The receipt is on disk, whole, before this returns.
    result<void> add(const agent_journal_entry& entry, std::string_view file_bytes) const;
    /// Keeps on disk that the run of `grant` ended without a receipt, until the hub has heard it.
    result<void> add_end(const lease_grant& grant, std::string_view reason) const;
    /// Receipts and ends that wait, oldest first. Damaged entries are moved to refused/.
    result<std::vector<agent_journal_entry>> waiting() const;
    result<std::string> file_of(const agent_journal_entry& entry) const;
    void delivered(const agent_journal_entry& entry) const;
    /// Keeps the receipt, out of the way, with the hub's reason beside it.
    void refused(const agent_journal_entry& entry, std::string_view why) const;

  private:
    explicit outbox(std::filesystem::path folder) : folder_(std::move(folder)) {}
    /// `name` is a receipt's id, or a run's for an end.
    std::filesystem::path entry_path(const std::string& name) const { return folder_ / "waiting" / (name + ".json"); }
    std::filesystem::path file_path(const std::string& receipt) const {
        return folder_ / "waiting" / (receipt + ".assay.json");
    }
    std::filesystem::path folder_;
};

}  // namespace assay::lab
