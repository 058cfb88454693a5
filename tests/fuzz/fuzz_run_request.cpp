// The contract's edge: what POST /api/v1/runs takes. What is accepted must come out as it went in.
#include "contract/run_request.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto request = assay::parse_run_request(assay::fuzz::text_of(data, size));
    if (!request) return 0;
    const auto text = assay::run_request_text(*request);
    const auto again = assay::parse_run_request(text);
    assay::fuzz::must(again.has_value());
    assay::fuzz::must(assay::run_request_text(*again) == text);
    return 0;
}
