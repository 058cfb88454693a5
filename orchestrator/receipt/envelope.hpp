// A receipt's file: ONE canonical JSON text, a DSSE envelope whose payload is an in-toto Statement with the receipt.
//
//   {"payload": base64(statement), "payloadType": "application/vnd.in-toto+json",
//    "signatures": [{"keyid": SHA-256 of the public key, "public_key": base64, "sig": base64}]}
//   statement = {"_type": "https://in-toto.io/Statement/v1", "predicate": receipt, "predicateType":
//   "urn:assay:receipt:1",
//                "subject": [{"digest": {"sha256": of the canonical receipt}, "name": the receipt's id}]}
//
// Formats: DSSE 1.0 (secure-systems-lab/dsse), in-toto Attestation Framework 1.0, RFC 8785. The public key travels
// along so that anyone can check origin and integrity offline; whether to believe the key is the reader's question
// (trust.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "receipt/signing_key.hpp"

namespace assay {

inline constexpr std::string_view receipt_payload_type = "application/vnd.in-toto+json";
inline constexpr std::string_view receipt_predicate_type = "urn:assay:receipt:1";
/// A receipt file is never larger; 200 quadruples of 10,000 steps are refused at the request.
inline constexpr std::size_t max_receipt_file_bytes = 256u << 20;

/// The file's bytes for an inner receipt. The text must be a JSON object with an "id"; invalid_argument otherwise. An
/// integer that no double holds exactly is refused, since the canonical form would change it.
result<std::string> seal(std::string_view receipt_text, const signing_key& key);

/// What a file says once its form, digests and signature have been checked.
struct opened_envelope {
    std::string receipt_text;  ///< canonical
    std::string receipt_id;
    public_key signer;
    std::string file_sha256;
};

/// Opens a file. Refused (signature_invalid or corrupt, with a sentence) unless it is byte-identical to its own
/// re-serialisation, the key id belongs to the key, the signature holds and the subject's digest is the receipt's: so
/// no byte can change unseen.
result<opened_envelope> open_envelope(std::string_view file_bytes);

/// DSSE's pre-authentication encoding: what is signed.
std::string pre_authentication_encoding(std::string_view payload_type, std::string_view payload);

}  // namespace assay
