// Policies: both kinds, from any text.
#include "contract/policy.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = assay::fuzz::text_of(data, size);
    if (const auto adapter = assay::parse_adapter_policy(text)) assay::fuzz::must(!adapter->name.empty());
    if (const auto environment = assay::parse_environment_policy(text))
        for (const auto& [fact, rule] : environment->rules)
            if (rule.min && rule.max) assay::fuzz::must(*rule.min <= *rule.max);
    return 0;
}
