// Execution of one block's threads on one operating-system thread: a loop, with fibers where
// threads wait.
#pragma once

namespace PyGPU::host {

// Run every thread of the block that PyGPU_host_thread describes. Return false after a fault.
bool run_block(void (*threads)(void*), void* context);

// Free this thread's stacks after a launch that failed: the abandoned kernel left its frames on
// them, and other threads may need the memory.
void free_stacks();

}  // namespace PyGPU::host
