// The true elements of a mask, as bits.
#pragma once

namespace PyGPU {
namespace kernels {

__device__ inline unsigned true_of_4(unsigned bytes) {
  const unsigned high = ((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu | bytes) >> 7 & 0x01010101u;
  return (high | high >> 7 | high >> 14 | high >> 21) & 15u;
}

// Return which of the 16 elements from `first` on are true.
__device__ inline unsigned true_of_16(const unsigned char* mask, long long n, long long first) {
  if (first + 16 <= n && (size_t)mask % 16 == 0) {
    const uint4 word = *(const uint4*)(mask + first);
    return true_of_4(word.x) | true_of_4(word.y) << 4 | true_of_4(word.z) << 8 |
           true_of_4(word.w) << 12;
  }
  unsigned bits = 0;
  for (int i = 0; i < 16 && first + i < n; ++i) bits |= unsigned(mask[first + i] != 0) << i;
  return bits;
}

}  // namespace kernels
}  // namespace PyGPU
