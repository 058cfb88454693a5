#include "run/verify_receipt.hpp"

#include "analysis/recompute.hpp"
#include "receipt/envelope.hpp"

namespace assay {

receipt_verification verify_receipt(std::string_view file_bytes, const verify_options_of_key& accepted) {
    receipt_verification out;
    const auto invalid = [&out](std::string why) { out.reasons.push_back(std::move(why)); };
    auto opened = open_envelope(file_bytes);
    if (!opened) {
        invalid(opened.error().text());
        return out;
    }
    out.key_id = opened->signer.id();
    out.file_sha256 = opened->file_sha256;
    if (accepted.key_id && *accepted.key_id != out.key_id)
        invalid("It is signed by the key " + out.key_id + ", not by " + *accepted.key_id);
    if (accepted.trust && !accepted.trust->trusts(out.key_id)) {
        const revoked_key* revoked = accepted.trust->revocation(out.key_id);
        invalid(revoked != nullptr ? "Its key " + out.key_id + " was revoked: " + revoked->reason
                                   : "Its key " + out.key_id + " is not in the trust folder");
    }
    auto document = parse_receipt(opened->receipt_text);
    if (!document) {
        invalid(document.error().text());
        return out;
    }
    if (document->id != opened->receipt_id) invalid("The envelope names another receipt than it holds");
    for (const figure_mismatch& wrong : check_figures(*document))
        invalid(wrong.pointer + " says " + wrong.stored + ", but the samples give " + wrong.recomputed);
    out.link = chain_entry{document->id, document->machine ? document->machine->machine_id : std::string(),
                           out.file_sha256, document->chain.previous_sha256, document->chain.sequence};
    out.document = std::move(*document);
    out.valid = out.reasons.empty();
    return out;
}

}  // namespace assay
