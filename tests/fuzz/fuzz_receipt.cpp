// Receipts: strict JSON and its canonical form, the envelope, the receipt itself.
#include "contract/receipt.hpp"
#include "fuzz.hpp"
#include "receipt/canonical_json.hpp"
#include "receipt/envelope.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = assay::fuzz::text_of(data, size);
    if (const auto canonical = assay::canonicalise_json(bytes)) {
        const auto again = assay::canonicalise_json(*canonical);
        assay::fuzz::must(again.has_value() && *again == *canonical);
    }
    if (const auto opened = assay::open_envelope(bytes)) (void)assay::parse_receipt(opened->receipt_text);
    if (const auto document = assay::parse_receipt(bytes)) {
        const auto text = assay::receipt_text(*document);
        const auto again = assay::parse_receipt(text);
        assay::fuzz::must(again.has_value() && assay::receipt_text(*again) == text);
    }
    return 0;
}
