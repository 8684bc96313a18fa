// Short copies of pageable memory through one page-locked block.
//
// The runtime copies page-locked memory faster than pageable memory: a short copy from the device
// and then one by the processor take less time than the runtime's copy into pageable memory.
// Several threads would be faster only while they are awake, in calls that follow each other at
// once; one copy always takes the same time.
#pragma once

#include <cstddef>
#include <optional>

#include "error.h"

namespace PyGPU {

// Size of the block.
constexpr std::size_t longest_bounce = 384 << 10;
// Return whether copies of this size are faster through the block.
bool is_short_for_bounce(std::size_t nbytes, bool up);

// Copy through the block of the current device, in the order of cudaMemcpy. Returns nothing,
// without a copy, if another thread uses the block, or until the device has had enough short copies
// to make one.
std::optional<Status> copy_by_bounce(void* device, void* host, std::size_t nbytes, bool up);

}  // namespace PyGPU
