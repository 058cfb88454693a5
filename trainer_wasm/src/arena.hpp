// One block of memory for everything a model needs. A layout function asks for its arrays in order; run once over an
// arena without memory it measures, run again over the real block it places.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::trainer {

class arena {
  public:
    /// Every array begins on a cache line, so that threads that own different arrays never share one.
    static constexpr std::size_t alignment = 64;

    /// `block` may be null: then `take` answers null and only counts.
    explicit arena(std::uint8_t* block) : block_(block) {}

    template <class T>
    T* take(std::size_t count) {
        const std::uint64_t begin = used_;
        used_ += (static_cast<std::uint64_t>(count) * sizeof(T) + alignment - 1) / alignment * alignment;
        return block_ ? reinterpret_cast<T*>(block_ + begin) : nullptr;
    }

    /// Bytes taken so far; 64 bits wide even where pointers are not, so that a model too large is seen as such.
    std::uint64_t used() const { return used_; }

  private:
    std::uint8_t* block_;
    std::uint64_t used_ = 0;
};

}  // namespace assay::trainer
