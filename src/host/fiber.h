// The threads of one block on one operating-system thread: a loop, and fibers where a barrier asks.
#pragma once

namespace PyGPU::host {

// Run every thread of the block that PyGPU_host_thread describes.
void run_block(void (*threads)(void*), void* context);

}  // namespace PyGPU::host
