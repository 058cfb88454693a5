#include "receipt/trust.hpp"

#include <sstream>

#include "receipt/atomic_file.hpp"
#include "receipt/canonical_json.hpp"
#include "receipt/digest.hpp"

namespace assay {
namespace {

constexpr std::string_view rotation_schema = "assay.key-rotation/1";
constexpr std::size_t max_trust_file_bytes = 1 << 20;

std::string rotation_body(const public_key& old_key, const public_key& new_key, std::string_view machine_id,
                          std::string_view at_utc) {
    return canonical_text(canonical_value::of_object({
        {"at", canonical_value::of_string(std::string(at_utc))},
        {"machine_id", canonical_value::of_string(std::string(machine_id))},
        {"new_key", canonical_value::of_string(base64(new_key.bytes()))},
        {"old_key", canonical_value::of_string(base64(old_key.bytes()))},
        {"schema", canonical_value::of_string(std::string(rotation_schema))},
    }));
}

std::string rotation_text(std::string_view body, std::string_view old_signature, std::string_view new_signature) {
    return canonical_text(canonical_value::of_object({
        {"body", canonical_value::of_string(std::string(body))},
        {"new_signature", canonical_value::of_string(base64(new_signature))},
        {"old_signature", canonical_value::of_string(base64(old_signature))},
    }));
}

std::string member(const canonical_value& value, std::string_view name) {
    const auto* found = value.find(name);
    return found != nullptr && found->type == canonical_value::kind::string ? found->text : std::string();
}

result<public_key> key_member(const canonical_value& value, std::string_view name) {
    auto bytes = decode_base64(member(value, name));
    if (!bytes) return bytes.error();
    return public_key::from_bytes(*bytes);
}

error in_file(const std::filesystem::path& path, const error& cause) {
    return {cause.code, path.string() + ": " + cause.message};
}

}  // namespace

std::string rotation_certificate(const signing_key& old_key, const signing_key& new_key, std::string_view machine_id,
                                 std::string_view at_utc) {
    const auto body = rotation_body(old_key.public_half(), new_key.public_half(), machine_id, at_utc);
    return rotation_text(body, old_key.sign(body), new_key.sign(body));
}

result<void> trust_store::add_rotation(std::string_view certificate) {
    const error bad{error_code::signature_invalid, "not a valid rotation certificate"};
    const auto outer = parse_strict_json(certificate);
    if (!outer) return outer.error();
    const std::string body_text = member(*outer, "body");
    const auto body = parse_strict_json(body_text);
    if (!body || member(*body, "schema") != rotation_schema) return bad;
    const auto old_key = key_member(*body, "old_key"), new_key = key_member(*body, "new_key");
    const auto old_signature = decode_base64(member(*outer, "old_signature"));
    const auto new_signature = decode_base64(member(*outer, "new_signature"));
    if (!old_key || !new_key || !old_signature || !new_signature) return bad;
    if (certificate != rotation_text(body_text, *old_signature, *new_signature)) return bad;
    if (!old_key->verifies(body_text, *old_signature) || !new_key->verifies(body_text, *new_signature)) return bad;
    predecessors_[new_key->id()] = {old_key->id(), new_key->id(), member(*body, "machine_id")};
    return {};
}

void trust_store::add_public_key(std::string_view name, const public_key& key) {
    names_.emplace(key.id(), name);
}

void trust_store::revoke(revoked_key entry) {
    auto id = entry.key_id;
    revoked_.insert_or_assign(std::move(id), std::move(entry));
}

const revoked_key* trust_store::revocation(const std::string& key_id) const {
    const auto found = revoked_.find(key_id);
    return found == revoked_.end() ? nullptr : &found->second;
}

bool trust_store::trusts(const std::string& key_id) const {
    std::string at = key_id;
    // A walk back along certificates; each is passed at most once, so a ring of them ends.
    for (std::size_t step = 0; step <= predecessors_.size(); ++step) {
        if (revocation(at) != nullptr) return false;
        if (names_.contains(at)) return true;
        const auto before = predecessors_.find(at);
        if (before == predecessors_.end()) return false;
        at = before->second.old_id;
    }
    return false;
}

std::string trust_store::first_key_id(const std::string& key_id) const {
    std::string at = key_id;
    for (std::size_t step = 0; step < predecessors_.size(); ++step) {
        const auto before = predecessors_.find(at);
        if (before == predecessors_.end()) break;
        at = before->second.old_id;
    }
    return at;
}

result<trust_store> trust_store::load(const std::filesystem::path& folder) {
    trust_store store;
    std::error_code failure;
    std::filesystem::directory_iterator files(folder, failure);
    if (failure)
        return error{error_code::io_error,
                     "cannot read the trust folder " + folder.string() + ": " + failure.message()};
    for (const auto& entry : files) {
        const auto& path = entry.path();
        const bool is_key = path.extension() == ".pub", is_rotation = path.extension() == ".rotation";
        const bool is_revocation = path.filename() == "revoked";
        if (!is_key && !is_rotation && !is_revocation) continue;
        const auto text = read_whole_file(path, max_trust_file_bytes);
        if (!text) return text.error();
        if (is_key) {
            const auto key = parse_public_key(*text);
            if (!key) return in_file(path, key.error());
            store.add_public_key(path.stem().string(), *key);
        } else if (is_rotation) {
            if (auto added = store.add_rotation(*text); !added) return in_file(path, added.error());
        } else {
            std::istringstream lines(*text);
            for (std::string line; std::getline(lines, line);) {
                if (line.empty() || line[0] == '#') continue;
                const auto blank = line.find(' ');
                revoked_key revoked{line.substr(0, blank), blank == std::string::npos ? "" : line.substr(blank + 1)};
                if (!is_sha256_hex(revoked.key_id))
                    return error{error_code::corrupt,
                                 path.string() + ": \"" + line + "\" does not begin with a key id"};
                store.revoke(std::move(revoked));
            }
        }
    }
    return store;
}

std::string public_key_text(const public_key& key) {
    return base64(key.bytes()) + "\n";
}

result<public_key> parse_public_key(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    auto bytes = decode_base64(text);
    if (!bytes) return bytes.error();
    return public_key::from_bytes(*bytes);
}

}  // namespace assay
