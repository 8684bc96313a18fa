// Small blocks of a device's pool that were given back, kept for the next who asks for as many
// bytes. Both happen in the order of the null stream, so the runtime need not hear of it: that
// costs more than all the rest of a small array.
#pragma once

#include <cstddef>

namespace PyGPU::small_blocks {

// A block that was kept, or null.
void* take(int device, std::size_t nbytes);
// Keep a block that nobody uses beside the null stream. False: it is too large, or nothing is kept
// (PYGPU_SMALL_BLOCKS=0, and on the host machine, which watches over freed memory, unless it is 1).
bool keep(int device, void* block, std::size_t nbytes);
// All go back to the pool.
void give_back(int device);

}  // namespace PyGPU::small_blocks
