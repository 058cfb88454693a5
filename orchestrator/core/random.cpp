#include "core/random.hpp"

#include <openssl/rand.h>

#include <cstring>
#include <stdexcept>

namespace assay {

void system_random::fill(std::span<std::byte> bytes) {
    if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1)
        throw std::runtime_error("the operating system's random generator failed");
}

// SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
std::uint64_t seeded_random::next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

void seeded_random::fill(std::span<std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        const std::uint64_t word = next();
        std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
    }
}

std::uint64_t seeded_random::below(std::uint64_t bound) {
    // Rejects the short last interval, so that every value is equally likely.
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t value = next();
    while (value >= limit) value = next();
    return value % bound;
}

double seeded_random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

}  // namespace assay
