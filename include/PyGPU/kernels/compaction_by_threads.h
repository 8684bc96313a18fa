// Compaction of a mask for the host machine: each thread processes one chunk of the mask. The
// threads run one after another, so they need not cooperate as on a GPU (compaction.h).
#pragma once

#include <PyGPU/kernels/true_bits.h>

namespace PyGPU {
namespace kernels {

// Store the number of true elements of each chunk in `counts`, and 0 after the last chunk.
template <int chunk>
__device__ inline void count_true(long long n, const unsigned char* mask, long long* counts) {
  const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x, base = thread * chunk;
  if (base >= n) return;
  int count = 0;
  for (int i = 0; i < chunk && base + i < n; i += 16)
    count += __popc(true_of_16(mask, n, base + i));
  counts[thread] = count;
  if (base + chunk >= n) counts[thread + 1] = 0;
}

// Write the indices of the mask's true elements to `out`. The indices of a chunk start at its
// offset, which is the number of true elements in all earlier chunks.
template <int chunk, class Index>
__device__ inline void write_true(long long n, const unsigned char* mask, const long long* offsets,
                                  Index* out) {
  const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x, base = thread * chunk;
  if (base >= n) return;
  const Index* const end = out + offsets[thread + 1];
  out += offsets[thread];
  for (int i = 0; i < chunk && base + i < n; i += 16) {
    unsigned bits = true_of_16(mask, n, base + i);
    if (bits && end - out >= 16) {  // 16 indices fit: no branch for each element
      int count = 0;
      for (int k = 0; k < 16; ++k) {
        out[count] = Index(base + i + k);
        count += bits >> k & 1;
      }
      out += count;
    } else {
      for (; bits; bits &= bits - 1) *out++ = Index(base + i + __ffs(int(bits)) - 1);
    }
  }
}

}  // namespace kernels
}  // namespace PyGPU
