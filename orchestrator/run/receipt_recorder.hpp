// From a finished document to a signed file: chain, signature, summary.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "contract/receipt.hpp"
#include "receipt/receipt_files.hpp"
#include "receipt/signing_key.hpp"
#include "run/ports.hpp"

namespace assay {

/// A receipt as it was recorded.
struct recorded_receipt {
    receipt document;
    std::string file_bytes;
    std::filesystem::path path;
    receipt_summary summary;
};

/// What lists need of a receipt.
receipt_summary summarise(const receipt& document, std::string file_sha256);

/// Signs and files receipts of one machine. Calls block on the disk. Record only under the measurement lock: the chain
/// has one end.
class receipt_recorder {
  public:
    receipt_recorder(machine_identity identity, receipt_files files)
        : identity_(std::move(identity)), files_(std::move(files)) {}

    /// Links the document to the machine's previous file, signs it and writes the file. The same document again gives
    /// the same bytes, so that a caller whose store failed may simply repeat.
    result<recorded_receipt> record(receipt document) const;

    /// The receipt that an earlier process filed for that run, and may not have got any further with; looked for among
    /// this machine's newest.
    result<std::optional<recorded_receipt>> recorded_for(const run_id& run) const;

    const machine_identity& identity() const { return identity_; }

  private:
    result<chain_link> next_link(const std::string& own_id) const;

    machine_identity identity_;
    receipt_files files_;
};

}  // namespace assay
