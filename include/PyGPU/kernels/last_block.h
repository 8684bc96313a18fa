// Detection of the last block of a launch, which may process the results of all other blocks.
#pragma once

// Return true if this block is the last of `P_blocks` blocks to finish. The last block sees all
// writes of the other blocks (threadFenceReduction in the CUDA samples). The counter is 0 between
// launches.
//
// The memory models of PTX and of AMD's GPUs both guarantee this. Each thread's fence is a
// release of its writes at device scope. The barrier orders the writes of all threads of a block
// before the count. The counts form one chain of atomic operations, and the fence after the last
// count is the acquire that matches all releases. The barrier passes on to the block what its first
// thread has acquired. On AMD, the fence invalidates the compute unit's vector cache; where a block
// spans two compute units (gfx10 and later), the barrier's own fence, at block scope, invalidates
// the other cache.
__device__ inline bool P_is_last(unsigned* P_done, unsigned P_blocks, bool& P_last) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    P_last = atomicInc(P_done, P_blocks - 1) == P_blocks - 1;  // makes the counter 0 again
    if (P_last) __threadfence();
  }
  __syncthreads();
  return P_last;
}
