// Compaction by threads, each of which processes a chunk of the mask: for the host machine, whose
// threads run one after another. See compaction.h.
#pragma once

#include <PyGPU/kernels/true_bits.h>

namespace PyGPU {
namespace kernels {

// Store the number of true elements of each chunk, and 0 after the last one.
template <int chunk>
__device__ inline void count_true(long long n, const unsigned char* mask, long long* counts) {
  const long long own = (long long)blockIdx.x * blockDim.x + threadIdx.x, base = own * chunk;
  if (base >= n) return;
  int count = 0;
  for (int i = 0; i < chunk && base + i < n; i += 16)
    count += __popc(true_of_16(mask, n, base + i));
  counts[own] = count;
  if (base + chunk >= n) counts[own + 1] = 0;
}

// Write the indices of each chunk's true elements, starting at the chunk's position in `offsets`.
template <int chunk, class Index>
__device__ inline void write_true(long long n, const unsigned char* mask, const long long* offsets,
                                  Index* out) {
  const long long own = (long long)blockIdx.x * blockDim.x + threadIdx.x, base = own * chunk;
  if (base >= n) return;
  const Index* const end = out + offsets[own + 1];
  out += offsets[own];
  for (int i = 0; i < chunk && base + i < n; i += 16) {
    unsigned bits = true_of_16(mask, n, base + i);
    if (bits && end - out >= 16) {  // room for all 16: no branch for each element
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
