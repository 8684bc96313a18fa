// Cache of freed blocks of a device's pool, reused for requests of the same size. Blocks are freed
// and reused in the order of the null stream, so no call of the runtime is needed. A call would
// cost more than all other work of making a small array, and would delay the start of a kernel that
// directly follows another.
#pragma once

#include <cstddef>

namespace PyGPU::block_cache {

// Return a cached block of exactly `nbytes`, or null.
void* take(int device, std::size_t nbytes);
// Cache a block that is used only in the order of the null stream. Returns false if the block is
// too large, or if the cache is off: with PYGPU_BLOCK_CACHE=0, and by default on the host machine,
// which detects uses of freed memory.
bool keep(int device, void* block, std::size_t nbytes);
// Return the number of bytes of all cached blocks.
std::size_t cached_bytes(int device);
// Return all cached blocks to the pool.
void give_back(int device);

}  // namespace PyGPU::block_cache
