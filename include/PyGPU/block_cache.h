// A cache of freed blocks of a device's pool, reused for requests of the same size. Both happen in
// the order of the null stream, so no call of the runtime is needed: those would cost more than all
// else in making a small array, and keep a kernel from beginning right behind the one before.
#pragma once

#include <cstddef>

namespace PyGPU::block_cache {

// A kept block of exactly `nbytes`, or null.
void* take(int device, std::size_t nbytes);
// Keep a block that is used in the order of the null stream alone. False: it is too large, or the
// cache is off (PYGPU_BLOCK_CACHE=0; by default also on the host machine, which detects uses of
// freed memory).
bool keep(int device, void* block, std::size_t nbytes);
// Return all blocks to the pool.
void give_back(int device);

}  // namespace PyGPU::block_cache
