// Statistics of the memory that PyGPU holds on a device.
#pragma once

#include <cstdint>

#include "stream.h"

namespace PyGPU {

// Bytes. A peak is the largest number so far, or since it was last reset.
struct MemoryStats {
  std::size_t free = 0, total = 0;  // of the device, for all processes
  std::uint64_t pool_used = 0, pool_peak = 0;
  std::uint64_t pool_reserved = 0, pool_reserved_peak = 0;
  std::size_t cached = 0;  // blocks that the block cache keeps, part of `pool_used`
  std::uint64_t plain_used = 0, plain_peak = 0;
};

// Read the statistics, without waiting and without harm to captures. With `reset_peaks`, the peaks
// begin anew from the present use after they are read.
Status memory_stats(int device, bool reset_peaks, MemoryStats& stats);

// Count memory of cudaMalloc that PyGPU allocates or frees. The runtime counts a pool's memory, but
// not this.
void count_plain_memory(int device, std::size_t nbytes);
void discount_plain_memory(int device, std::size_t nbytes);

}  // namespace PyGPU
