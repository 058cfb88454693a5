// Randomness is a parameter too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay {

/// A source of random bytes.
class random_source {
  public:
    virtual ~random_source() = default;
    virtual void fill(std::span<std::byte> bytes) = 0;

    std::uint64_t next_u64() {
        std::uint64_t value = 0;
        fill(std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
};

/// The operating system's generator.
class system_random final : public random_source {
  public:
    void fill(std::span<std::byte> bytes) override;
};

/// A seeded generator (SplitMix64), for plans, bootstraps and tests: the same seed gives the same bytes everywhere.
class seeded_random final : public random_source {
  public:
    explicit seeded_random(std::uint64_t seed) : state_(seed) {}
    void fill(std::span<std::byte> bytes) override;
    std::uint64_t next();
    /// Uniform in [0, bound) without bias; bound > 0.
    std::uint64_t below(std::uint64_t bound);
    /// Uniform in [0, 1) with 53 bits.
    double uniform();

  private:
    std::uint64_t state_;
};

}  // namespace assay
