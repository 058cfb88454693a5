#include "receipt/signing_key.hpp"

#include <sodium.h>
#include <sys/stat.h>

#include <array>
#include <stdexcept>

#include "receipt/atomic_file.hpp"
#include "receipt/digest.hpp"
#include "receipt/trust.hpp"

namespace assay {
namespace {

constexpr std::string_view key_file_header = "assay-ed25519-1";
constexpr std::size_t max_key_file_bytes = 4096;

void need_sodium() {
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot start");
}

const unsigned char* as_bytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::filesystem::path key_path(const std::filesystem::path& home) {
    return home / "key";
}

std::string key_file_text(const machine_identity& identity) {
    return std::string(key_file_header) + "\nseed " + base64(identity.key.seed()) + "\nmachine " + identity.machine_id +
           "\n";
}

error damaged(const std::filesystem::path& path) {
    return {error_code::corrupt,
            path.string() + " is not a key file of this version",
            {},
            "Restore it from a copy, or move it away and make a new key with `assay keygen`."};
}

result<machine_identity> parse_key_file(const std::filesystem::path& path, std::string_view text) {
    const auto line = [&text]() {
        const auto end = text.find('\n');
        const auto out = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        return out;
    };
    constexpr std::string_view seed_word = "seed ", machine_word = "machine ";
    if (line() != key_file_header) return damaged(path);
    const auto seed_line = line(), machine_line = line();
    if (!seed_line.starts_with(seed_word) || !machine_line.starts_with(machine_word) || !text.empty())
        return damaged(path);
    auto seed = decode_base64(seed_line.substr(seed_word.size()));
    if (!seed) return damaged(path);
    auto key = signing_key::from_seed(*seed);
    sodium_memzero(seed->data(), seed->size());
    const std::string machine(machine_line.substr(machine_word.size()));
    if (!key || machine.size() != 16 || machine.find_first_not_of("0123456789abcdef") != std::string::npos)
        return damaged(path);
    return machine_identity{*key, machine};
}

}  // namespace

struct signing_key::secret {
    std::array<unsigned char, crypto_sign_SECRETKEYBYTES> bytes{};
    public_key half;
    ~secret() { sodium_memzero(bytes.data(), bytes.size()); }
};

result<public_key> public_key::from_bytes(std::string_view bytes) {
    if (bytes.size() != crypto_sign_PUBLICKEYBYTES)
        return error{error_code::invalid_argument, "an Ed25519 public key has 32 bytes"};
    public_key key;
    key.bytes_ = bytes;
    key.id_ = sha256_hex(bytes);
    return key;
}

bool public_key::verifies(std::string_view message, std::string_view signature) const {
    need_sodium();
    return signature.size() == crypto_sign_BYTES &&
           crypto_sign_verify_detached(as_bytes(signature), as_bytes(message), message.size(), as_bytes(bytes_)) == 0;
}

result<signing_key> signing_key::from_seed(std::string_view seed) {
    need_sodium();
    if (seed.size() != crypto_sign_SEEDBYTES)
        return error{error_code::invalid_argument, "an Ed25519 seed has 32 bytes"};
    auto held = std::make_shared<secret>();
    std::string half(crypto_sign_PUBLICKEYBYTES, '\0');
    crypto_sign_seed_keypair(reinterpret_cast<unsigned char*>(half.data()), held->bytes.data(), as_bytes(seed));
    held->half = public_key::from_bytes(half).value();
    return signing_key(std::move(held));
}

signing_key signing_key::generate() {
    need_sodium();
    std::string seed(crypto_sign_SEEDBYTES, '\0');
    randombytes_buf(seed.data(), seed.size());
    auto key = from_seed(seed).value();
    sodium_memzero(seed.data(), seed.size());
    return key;
}

const public_key& signing_key::public_half() const {
    return secret_->half;
}

std::string signing_key::sign(std::string_view message) const {
    std::string signature(crypto_sign_BYTES, '\0');
    crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr, as_bytes(message), message.size(),
                         secret_->bytes.data());
    return signature;
}

std::string signing_key::seed() const {
    std::string seed(crypto_sign_SEEDBYTES, '\0');
    crypto_sign_ed25519_sk_to_seed(reinterpret_cast<unsigned char*>(seed.data()), secret_->bytes.data());
    return seed;
}

std::string machine_id_of(const public_key& first_key) {
    return machine_id_of_key(first_key.id());
}

std::string machine_id_of_key(const std::string& first_key_id) {
    return first_key_id.substr(0, 16);
}

result<machine_identity> load_identity(const std::filesystem::path& home) {
    const auto path = key_path(home);
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return error{error_code::not_found, "there is no key at " + path.string()};
    if ((status.st_mode & 077) != 0)
        return error{error_code::forbidden,
                     path.string() + " can be read or written by others",
                     {},
                     "Run `chmod 600 " + path.string() + "`, and rotate the key if others have used this machine."};
    auto text = read_whole_file(path, max_key_file_bytes);
    if (!text) return text.error();
    auto identity = parse_key_file(path, *text);
    sodium_memzero(text->data(), text->size());
    return identity;
}

result<machine_identity> load_or_make_identity(const std::filesystem::path& home) {
    auto found = load_identity(home);
    if (found || found.error().code != error_code::not_found) return found;
    std::error_code failure;
    if (std::filesystem::create_directories(home, failure))
        std::filesystem::permissions(home, std::filesystem::perms::owner_all, failure);
    if (failure) return error{error_code::io_error, "cannot make " + home.string() + ": " + failure.message()};
    const auto key = signing_key::generate();
    const machine_identity made{key, machine_id_of(key.public_half())};
    const auto written = write_file_atomically(key_path(home), key_file_text(made), 0600, when_present::refuse);
    // Another process was quicker: its key is the machine's.
    if (!written && written.error().code == error_code::conflict) return load_identity(home);
    if (!written) return written.error();
    return made;
}

result<rotation> rotate_key(const std::filesystem::path& home, std::string_view at_utc) {
    auto old = load_identity(home);
    if (!old) return old.error();
    rotation made{{signing_key::generate(), old->machine_id}, {}};
    made.certificate = rotation_certificate(old->key, made.identity.key, old->machine_id, at_utc);
    std::error_code failure;
    std::filesystem::create_directories(home / "keys", failure);
    if (!failure) std::filesystem::permissions(home / "keys", std::filesystem::perms::owner_all, failure);
    if (!failure) std::filesystem::create_directories(home / "trust", failure);
    if (failure)
        return error{error_code::io_error, "cannot make folders in " + home.string() + ": " + failure.message()};
    // The certificate first: a new key without it could not be tied to the machine's earlier receipts.
    const auto certificate_path = home / "trust" / (made.identity.key.public_half().id() + ".rotation");
    if (auto written = write_file_atomically(certificate_path, made.certificate); !written) return written.error();
    const auto old_path = home / "keys" / old->key.public_half().id();
    if (auto written = write_file_atomically(old_path, key_file_text(*old), 0600); !written) return written.error();
    if (auto written = write_file_atomically(key_path(home), key_file_text(made.identity), 0600); !written)
        return written.error();
    return made;
}

}  // namespace assay
