// Pools of stream-ordered memory: one of PyGPU's own on each device.
#pragma once

#include "stream.h"

namespace PyGPU {

// Return PyGPU's pool on a device, created at its first use; null if the device has no pools, or
// none are wanted. Its release threshold is high: it keeps freed memory, so that the next
// allocation needs no call of the driver. The default pool is left to the other libraries of the
// process.
cudaMemPool_t memory_pool(int device);
// Return PyGPU's pool on a device if it was created, else null.
cudaMemPool_t existing_memory_pool(int device);

}  // namespace PyGPU
