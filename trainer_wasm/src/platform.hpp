// What differs between a module's memory and a host's.
#pragma once

#include <cstdint>

namespace assay::trainer {

/// Bytes that an allocation could still have, as far as the platform says; 0 where it does not.
std::uint64_t memory_at_hand();

/// `bytes` of memory, released by std::free; null when it does not fit (never a promise that a later touch breaks).
void* allocate_block(std::uint64_t bytes);

}  // namespace assay::trainer
