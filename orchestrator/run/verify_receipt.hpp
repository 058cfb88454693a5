// Is a receipt file what it says? Offline: its form, its signature, its schema, and every figure from its raw samples.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/receipt.hpp"
#include "receipt/chain.hpp"
#include "receipt/trust.hpp"

namespace assay {

/// Whose signature is accepted, and by which policies the gate is asked again. With neither key nor trust any key is
/// accepted, since it proves origin, not honesty.
struct verify_options_of_key {
    std::optional<std::string> key_id;              ///< exactly this key
    std::optional<trust_store> trust;               ///< a key of this folder
    std::optional<std::string> nonce;               ///< the request must have held this nonce
    std::optional<std::filesystem::path> policies;  ///< the shipped policies; absent: the gate's reasons stand as stored
};

/// What was found about one file.
struct receipt_verification {
    bool valid = false;
    std::vector<std::string> reasons;  ///< why not, one sentence each; empty when valid
    std::vector<std::string> remarks;  ///< what could not be checked; no reason to doubt the rest
    std::string key_id;                ///< of the signer; empty where the envelope did not open
    std::string file_sha256;
    std::optional<receipt> document;   ///< where it could be read
    std::optional<chain_entry> link;
};

receipt_verification verify_receipt(std::string_view file_bytes, const verify_options_of_key& accepted = {});

}  // namespace assay
