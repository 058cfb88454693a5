#include "receipt/chain.hpp"

#include <algorithm>
#include <tuple>

namespace assay {
namespace {

std::string missing_text(std::uint64_t first, std::uint64_t last) {
    return first == last ? "receipt " + std::to_string(first) + " is missing"
                         : "receipts " + std::to_string(first) + " to " + std::to_string(last) + " are missing";
}

}  // namespace

const char* chain_fault_name(chain_fault::kind type) {
    switch (type) {
        case chain_fault::kind::gap:
            return "gap";
        case chain_fault::kind::fork:
            return "fork";
        case chain_fault::kind::broken_link:
            return "broken-link";
        case chain_fault::kind::no_start:
            return "no-start";
    }
    return "gap";
}

std::vector<chain_fault> check_chain(std::vector<chain_entry> entries) {
    const auto place = [](const chain_entry& e) { return std::tie(e.machine_id, e.sequence, e.file_sha256); };
    std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    entries.erase(
        std::unique(entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return place(a) == place(b); }),
        entries.end());
    std::vector<chain_fault> faults;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& here = entries[i];
        const auto report = [&](chain_fault::kind type, std::uint64_t sequence, std::string message) {
            faults.push_back({type, here.machine_id, sequence, std::move(message)});
        };
        const bool first_of_machine = i == 0 || entries[i - 1].machine_id != here.machine_id;
        if (first_of_machine) {
            if (here.sequence != 0)
                report(chain_fault::kind::no_start, 0,
                       "the files begin at receipt " + std::to_string(here.sequence) + " (" + here.receipt_id + "); " +
                           missing_text(0, here.sequence - 1));
            else if (here.previous_sha256)
                report(chain_fault::kind::broken_link, 0, "receipt 0 (" + here.receipt_id + ") names a file before it");
            continue;
        }
        const auto& before = entries[i - 1];
        if (here.sequence == before.sequence) {
            report(
                chain_fault::kind::fork, here.sequence,
                before.receipt_id + " and " + here.receipt_id + " both claim place " + std::to_string(here.sequence));
            continue;
        }
        if (here.sequence > before.sequence + 1) {
            report(chain_fault::kind::gap, before.sequence + 1,
                   missing_text(before.sequence + 1, here.sequence - 1) + " between " + before.receipt_id + " and " +
                       here.receipt_id);
            continue;
        }
        // Every file at the place before is a possible parent: after a fork either may have been continued.
        bool linked = false;
        for (std::size_t j = i;
             j-- > 0 && entries[j].machine_id == here.machine_id && entries[j].sequence >= before.sequence;)
            linked = linked || here.previous_sha256 == entries[j].file_sha256;
        if (!linked)
            report(chain_fault::kind::broken_link, here.sequence,
                   here.receipt_id + " does not hold the digest of the file before it, " + before.receipt_id);
    }
    return faults;
}

}  // namespace assay
