// The threads of one block on one operating-system thread: a loop, and fibers where threads wait.
#pragma once

namespace PyGPU::host {

// Run every thread of the block that PyGPU_host_thread describes; false after a fault.
bool run_block(void (*threads)(void*), void* context);

// Give this thread's stacks back, after a launch that failed: a kernel that was abandoned left its
// frames there, and other threads may lack the memory.
void drop_stacks();

}  // namespace PyGPU::host
