// What every fuzzer shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace assay::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// A property that must hold for every input; a finding where it does not.
inline void must(bool holds) {
    if (!holds) std::abort();
}

}  // namespace assay::fuzz
