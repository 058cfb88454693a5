// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3" (SC 2011). A pure function of counter and key: any element of any stream can be made on its own.
#pragma once

#include <array>
#include <cstdint>

namespace assay::trainer {

using philox_counter = std::array<std::uint32_t, 4>;
using philox_key = std::array<std::uint32_t, 2>;

/// Four random words for one counter value.
constexpr philox_counter philox4x32_10(philox_counter counter, philox_key key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter[0];
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter[2];
        counter = {
            static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
            static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return counter;
}

/// What a stream of random words is for; the fourth counter word, so that streams never overlap.
enum class philox_stream : std::uint32_t { weights = 1, batches = 2, corpus = 3 };

/// Word number `index` group of four of a stream: counter = (index low, index high, row, stream).
constexpr philox_counter philox_words(std::uint64_t seed, philox_stream stream, std::uint64_t index,
                                      std::uint32_t row = 0) {
    return philox4x32_10({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), row,
                          static_cast<std::uint32_t>(stream)},
                         {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

}  // namespace assay::trainer
