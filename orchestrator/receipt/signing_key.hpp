// The machine's Ed25519 key (RFC 8032): made once, kept in <home>/key, used to sign every receipt.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace assay {

/// A public key with its id. The id is the SHA-256 of the 32 key bytes in hexadecimal.
class public_key {
  public:
    /// `bytes` must be 32 long; invalid_argument otherwise.
    static result<public_key> from_bytes(std::string_view bytes);
    const std::string& bytes() const { return bytes_; }
    const std::string& id() const { return id_; }
    /// True when `signature` (64 bytes) is this key's over `message`; small-order keys and malleable forms are refused.
    bool verifies(std::string_view message, std::string_view signature) const;
    bool operator==(const public_key& other) const { return bytes_ == other.bytes_; }

  private:
    std::string bytes_, id_;
};

/// A key pair. The secret half is wiped when the last copy goes.
class signing_key {
  public:
    static signing_key generate();
    /// From a 32-byte seed (RFC 8032's private key); invalid_argument otherwise.
    static result<signing_key> from_seed(std::string_view seed);
    const public_key& public_half() const;
    /// The 64-byte signature of `message`.
    std::string sign(std::string_view message) const;
    /// The 32-byte seed, for the key file alone.
    std::string seed() const;

  private:
    struct secret;
    explicit signing_key(std::shared_ptr<const secret> held) : secret_(std::move(held)) {}
    std::shared_ptr<const secret> secret_;
};

/// What a machine signs with and what it is called. The machine id is the first 16 digits of the id of the machine's
/// FIRST key, and stays when the key is rotated, so that a chain of receipts outlives a key.
struct machine_identity {
    signing_key key;
    std::string machine_id;
};

/// The first 16 digits of a key id.
std::string machine_id_of(const public_key& first_key);
std::string machine_id_of_key(const std::string& first_key_id);

/// Reads <home>/key. not_found when there is none; forbidden when others may read it; corrupt when it is damaged.
result<machine_identity> load_identity(const std::filesystem::path& home);
/// Reads <home>/key, or makes the folder (0700) and the key (0600). Two processes that start at once end with one key.
result<machine_identity> load_or_make_identity(const std::filesystem::path& home);

/// The new key of a rotation, and the certificate (canonical JSON, signed by both keys) that says so.
struct rotation {
    machine_identity identity;
    std::string certificate;
};
/// Replaces <home>/key by a new one for the same machine id, keeps the old file as <home>/keys/<old id>, and writes the
/// certificate to <home>/trust/<new id>.rotation. `at_utc` is the moment as format_utc writes it.
result<rotation> rotate_key(const std::filesystem::path& home, std::string_view at_utc);

}  // namespace assay
