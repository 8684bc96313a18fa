// Host memory of large results, which is kept for the next one.
//
// The first write to each page of new memory takes longer than the copy from the device. A loop
// that downloads a result in each step therefore writes into the pages of the results that it has
// dropped. What is not used again within seconds returns to the system.
#pragma once

#include <cstddef>

namespace PyGPU::host_blocks {

// Size from which blocks are kept; smaller ones come from malloc.
constexpr std::size_t kept_from = 256 << 10;

// These are like malloc, realloc and free. Memory is not zeroed. Null without memory.
void* take(std::size_t nbytes);
void* retake(void* block, std::size_t nbytes);
void give(void* block);

struct Bytes {
  std::size_t in_use, kept, limit;  // limit: of the bytes kept
};
Bytes count();
// Keep at most `nbytes`; 0: keep nothing.
void set_limit(std::size_t nbytes);

}  // namespace PyGPU::host_blocks
