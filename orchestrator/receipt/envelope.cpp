#include "receipt/envelope.hpp"

#include <algorithm>

#include "receipt/canonical_json.hpp"
#include "receipt/digest.hpp"

namespace assay {
namespace {

constexpr std::string_view statement_type = "https://in-toto.io/Statement/v1";

using kind = canonical_value::kind;

canonical_value text_value(std::string_view content) {
    return canonical_value::of_string(std::string(content));
}

std::string statement_text(const canonical_value& receipt, std::string_view id, std::string_view digest) {
    return canonical_text(canonical_value::of_object({
        {"_type", text_value(statement_type)},
        {"predicate", receipt},
        {"predicateType", text_value(receipt_predicate_type)},
        {"subject", canonical_value::of_array({canonical_value::of_object({
                        {"digest", canonical_value::of_object({{"sha256", text_value(digest)}})},
                        {"name", text_value(id)},
                    })})},
    }));
}

std::string envelope_text(std::string_view payload, const public_key& key, std::string_view signature) {
    return canonical_text(canonical_value::of_object({
        {"payload", text_value(base64(payload))},
        {"payloadType", text_value(receipt_payload_type)},
        {"signatures", canonical_value::of_array({canonical_value::of_object({
                           {"keyid", text_value(key.id())},
                           {"public_key", text_value(base64(key.bytes()))},
                           {"sig", text_value(base64(signature))},
                       })})},
    }));
}

const canonical_value* string_member(const canonical_value& value, std::string_view name) {
    const auto* found = value.find(name);
    return found != nullptr && found->type == kind::string ? found : nullptr;
}

/// True when the text is an integer beyond 2^53 that a double would round.
bool is_inexact_integer(std::string_view number) {
    if (number.find_first_of(".eE") != std::string_view::npos) return false;
    if (number.starts_with('-')) number.remove_prefix(1);
    constexpr std::string_view largest_exact = "9007199254740992";
    return number.size() > largest_exact.size() || (number.size() == largest_exact.size() && number > largest_exact);
}

/// The first integer outside any string that the canonical form would round; empty when there is none.
std::string_view find_inexact_integer(std::string_view text) {
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (in_string) {
            if (text[at] == '\\')
                ++at;
            else if (text[at] == '"')
                in_string = false;
            continue;
        }
        if (text[at] == '"') in_string = true;
        if (text[at] != '-' && (text[at] < '0' || text[at] > '9')) continue;
        const auto end = std::min(text.find_first_not_of("+-.0123456789eE", at), text.size());
        const auto number = text.substr(at, end - at);
        if (is_inexact_integer(number)) return number;
        at = end - 1;
    }
    return {};
}

error refused(error_code code, std::string message) {
    return {code, std::move(message)};
}

}  // namespace

std::string pre_authentication_encoding(std::string_view payload_type, std::string_view payload) {
    std::string out = "DSSEv1 ";
    out.append(std::to_string(payload_type.size())).append(" ").append(payload_type);
    out.append(" ").append(std::to_string(payload.size())).append(" ").append(payload);
    return out;
}

result<std::string> seal(std::string_view receipt_text, const signing_key& key) {
    auto receipt = parse_strict_json(receipt_text);
    if (!receipt)
        return refused(error_code::invalid_argument, "the receipt cannot be sealed: " + receipt.error().message);
    const auto* id = string_member(*receipt, "id");
    if (id == nullptr || id->text.empty())
        return error{error_code::invalid_argument, "a receipt without an id cannot be sealed", "/id"};
    if (const auto number = find_inexact_integer(receipt_text); !number.empty())
        return refused(error_code::invalid_argument,
                       "the integer " + std::string(number) + " has no exact canonical form; write it as a string");
    const std::string digest = sha256_hex(canonical_text(*receipt));
    const std::string name = id->text;
    const std::string payload = statement_text(*receipt, name, digest);
    std::string file =
        envelope_text(payload, key.public_half(), key.sign(pre_authentication_encoding(receipt_payload_type, payload)));
    if (file.size() > max_receipt_file_bytes)
        return refused(error_code::too_large, "the receipt is over the file's bound");
    return file;
}

result<opened_envelope> open_envelope(std::string_view file_bytes) {
    if (file_bytes.size() > max_receipt_file_bytes)
        return refused(error_code::too_large, "the file is larger than any receipt");
    const auto envelope = parse_strict_json(file_bytes);
    if (!envelope) return refused(error_code::corrupt, "the receipt file is " + envelope.error().message);
    const auto* payload_base64 = string_member(*envelope, "payload");
    const auto* payload_type = string_member(*envelope, "payloadType");
    const auto* signatures = envelope->find("signatures");
    if (payload_base64 == nullptr || payload_type == nullptr || signatures == nullptr)
        return refused(error_code::corrupt,
                       "the file is not a DSSE envelope: payload, payloadType and signatures are needed");
    if (payload_type->text != receipt_payload_type)
        return refused(error_code::corrupt,
                       "the envelope holds \"" + payload_type->text + "\", not an in-toto statement");
    if (signatures->type != kind::array || signatures->items.size() != 1)
        return refused(error_code::corrupt, "the envelope must carry exactly one signature");
    const auto* key_text = string_member(signatures->items[0], "public_key");
    const auto* key_id = string_member(signatures->items[0], "keyid");
    const auto* signature_text = string_member(signatures->items[0], "sig");
    if (key_text == nullptr || key_id == nullptr || signature_text == nullptr)
        return refused(error_code::corrupt, "the signature needs keyid, public_key and sig");
    const auto payload = decode_base64(payload_base64->text);
    const auto key_bytes = decode_base64(key_text->text);
    const auto signature = decode_base64(signature_text->text);
    if (!payload || !key_bytes || !signature)
        return refused(error_code::corrupt, "payload, public_key or sig is not canonical base 64");
    const auto key = public_key::from_bytes(*key_bytes);
    if (!key) return refused(error_code::corrupt, "public_key is not an Ed25519 key");
    if (key->id() != key_id->text)
        return refused(error_code::signature_invalid, "keyid is not the SHA-256 of public_key");
    if (!key->verifies(pre_authentication_encoding(receipt_payload_type, *payload), *signature))
        return refused(error_code::signature_invalid,
                       "the signature does not hold: the receipt was changed after it was signed");
    if (envelope_text(*payload, *key, *signature) != file_bytes)
        return refused(error_code::corrupt, "the file is not byte-identical to its canonical form");

    const auto statement = parse_strict_json(*payload);
    if (!statement) return refused(error_code::corrupt, "the payload is " + statement.error().message);
    const auto* predicate_type = string_member(*statement, "predicateType");
    if (predicate_type == nullptr || predicate_type->text != receipt_predicate_type)
        return refused(error_code::unsupported_version, "the statement is about \"" +
                                                            (predicate_type ? predicate_type->text : "") +
                                                            "\", not \"" + std::string(receipt_predicate_type) + "\"");
    const auto* receipt = statement->find("predicate");
    const auto* id = receipt == nullptr ? nullptr : string_member(*receipt, "id");
    if (id == nullptr) return refused(error_code::corrupt, "the statement holds no receipt with an id");
    opened_envelope opened{canonical_text(*receipt), id->text, *key, sha256_hex(file_bytes)};
    if (statement_text(*receipt, id->text, sha256_hex(opened.receipt_text)) != *payload)
        return refused(error_code::corrupt, "the statement's form, subject or digest does not match its receipt");
    return opened;
}

}  // namespace assay
