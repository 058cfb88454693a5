// Whom to believe: a folder of public keys, rotation certificates and a revocation list.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "receipt/signing_key.hpp"

namespace assay {

/// One key that may not be believed any more.
struct revoked_key {
    std::string key_id;
    std::string reason;
};

/// A trust folder:
///   NAME.pub          one line: a public key in base 64; NAME is for people
///   NEWID.rotation    a certificate that a trusted key's machine goes on with a new key
///   revoked           a line a key: its id, a blank, the reason; "#" begins a comment
/// A key is trusted when it is in a .pub file or reached from one by rotations, and is not revoked. A revoked key
/// cannot vouch for a successor either.
class trust_store {
  public:
    /// Trusts nobody.
    trust_store() = default;
    /// Reads a folder; a damaged file in it is an error that names it, for a skipped one could be the revocation.
    static result<trust_store> load(const std::filesystem::path& folder);

    void add_public_key(std::string_view name, const public_key& key);
    result<void> add_rotation(std::string_view certificate);
    void revoke(revoked_key entry);

    /// Whether receipts signed by this key are to be believed.
    bool trusts(const std::string& key_id) const;
    const revoked_key* revocation(const std::string& key_id) const;
    /// The id of the machine's first key as far as certificates lead back from `key_id`.
    std::string first_key_id(const std::string& key_id) const;

  private:
    struct rotation_fact {
        std::string old_id, new_id, machine_id;
    };
    std::map<std::string, std::string> names_;           ///< key id -> name
    std::map<std::string, rotation_fact> predecessors_;  ///< new key id -> certificate
    std::map<std::string, revoked_key> revoked_;
};

/// The certificate of a rotation: one canonical JSON text signed by the old and by the new key.
std::string rotation_certificate(const signing_key& old_key, const signing_key& new_key, std::string_view machine_id,
                                 std::string_view at_utc);

/// The text of a .pub file.
std::string public_key_text(const public_key& key);
result<public_key> parse_public_key(std::string_view text);

}  // namespace assay
