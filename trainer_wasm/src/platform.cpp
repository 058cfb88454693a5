#include "platform.hpp"

#include <cstddef>
#include <cstdlib>
#include <limits>

#if defined(__EMSCRIPTEN__)
#include <emscripten/heap.h>
#include <unistd.h>
#else
#include <unistd.h>
#endif

namespace assay::trainer {

std::uint64_t memory_at_hand() {
#if defined(__EMSCRIPTEN__)
    return emscripten_get_heap_size() - reinterpret_cast<std::uintptr_t>(sbrk(0));
#elif defined(_SC_AVPHYS_PAGES)
    return static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
#else
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
#endif
}

void* allocate_block(std::uint64_t bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max()) return nullptr;
#if !defined(__EMSCRIPTEN__)
    // A host that overcommits would grant any size and kill the process on a later touch.
    const auto machine =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    if (bytes > machine) return nullptr;
#endif
    return std::malloc(static_cast<std::size_t>(bytes));
}

}  // namespace assay::trainer
