// The counter-based generator Philox4x32 with ten rounds: Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3" (SC11).
#pragma once

extern "C++" {
namespace PyGPU {
namespace random {

__device__ inline uint4 philox4x32_10(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * counter.x, b = 0xCD9E8D57ull * counter.z;
    counter = make_uint4(unsigned(b >> 32) ^ counter.y ^ key.x, unsigned(b),
                         unsigned(a >> 32) ^ counter.w ^ key.y, unsigned(a));
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

}  // namespace random
}  // namespace PyGPU
}
