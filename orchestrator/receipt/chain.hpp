// The chain of one machine's receipts: each holds the SHA-256 of the file before it, so that a missing one shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// What chain checking needs of one verified receipt file.
struct chain_entry {
    std::string receipt_id;
    std::string machine_id;
    std::string file_sha256;
    std::optional<std::string> previous_sha256;
    std::uint64_t sequence = 0;
};

/// One fault found in a set of files.
struct chain_fault {
    enum class kind {
        gap,          ///< sequence numbers are missing between two files
        fork,         ///< two different files claim the same place
        broken_link,  ///< the previous digest is not that of the file before
        no_start,     ///< the lowest file is not the machine's first: what came before was not given
    };
    kind type = kind::gap;
    std::string machine_id;
    std::uint64_t sequence = 0;  ///< the place of the fault: the first missing or doubled number
    std::string message;         ///< one sentence with the receipts concerned
};

/// "gap", "fork", "broken-link", "no-start".
const char* chain_fault_name(chain_fault::kind type);

/// Checks files of any number of machines, in any order; the same file given twice is one file. Faults come by machine,
/// then by place.
std::vector<chain_fault> check_chain(std::vector<chain_entry> entries);

}  // namespace assay
