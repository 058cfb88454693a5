// SHA-256 (FIPS 180-4), for digests of the inputs that both arms must share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::trainer {

using sha256_digest = std::array<std::uint8_t, 32>;

/// Takes bytes in any number of pieces; `finish` pads and answers, after which the object is spent.
class sha256 {
  public:
    void update(const void* data, std::size_t bytes);
    sha256_digest finish();

  private:
    void compress(const std::uint8_t* block);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> block_{};
    std::size_t filled_ = 0;
    std::uint64_t total_ = 0;
};

}  // namespace assay::trainer
