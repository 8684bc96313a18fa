// Capabilities of a target: what its runtime allows, and sizes at which its kernels are fast. The
// defaults are those of NVIDIA's GPUs; hip_modules.h and host_modules.h state what differs.
#pragma once

#include <cstddef>

namespace PyGPU {

struct Capabilities {
  bool is_rocm = false;             // DLPack names AMD's devices so
  bool launch_runs_kernel = false;  // a launch returns only after the kernel has run
  // Users' libraries share this thread's last error, which is kept until it is read. Elsewhere the
  // runtime is linked statically (CUDA), or the next call replaces the error (HIP before ROCm 7;
  // since then other libraries of the process leave harmless ones unread).
  bool shares_last_error = false;
  bool waits_beside_captures = true;  // a relaxed thread may wait while another thread captures
  bool keeps_blocks = true;  // freed blocks of the pool are cached by default; see block_cache.h

  // Elementwise kernels: threads per block, bytes of a vector access, vectors per thread in each
  // array, and most threads along a grid's first axis (2^31 - 1 blocks).
  unsigned loop_threads = 128;
  std::size_t loop_bytes = 16;
  int loop_vectors = 2;
  unsigned long long most_grid_threads = 0x7fffffffull * 128;

  // Threads of a block that folds operands, for which the kernels are generated; of a block that
  // folds partial results; elements, or vectors, that a thread loads at once.
  struct {
    unsigned threads = 256, block_threads = 256, last_threads = 512;
    int unroll = 4, linear_unroll = 8;
  } reduction;

  // Gathers and scatters: threads per block; words that a thread copies if there are at least
  // `many`; indices that a thread checks.
  struct {
    unsigned threads = 256;
    int words = 4, checked = 8;
    long long many = 1 << 20;
  } gather;
};

}  // namespace PyGPU
