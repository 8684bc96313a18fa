// Copies of bytes that do not go through the cache of the processor.
#pragma once

#include <cstddef>

namespace PyGPU {

// Copy like memcpy, but write past the cache where the processor can. A device reads such memory
// faster than lines that a core has just written; and memory that nobody reads soon takes no room
// in the cache.
void copy_past_cache(char* to, const char* from, std::size_t nbytes);

}  // namespace PyGPU
