// Counter-based generator Philox4x32 with ten rounds: Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3" (SC11).
#pragma once

extern "C++" {
namespace PyGPU {
namespace P_random {

__device__ inline uint4 P_philox4x32_10(uint4 P_counter, uint2 P_key) {
#pragma unroll
  for (int P_round = 0; P_round < 10; ++P_round) {
    const unsigned long long P_a = 0xD2511F53ull * P_counter.x, P_b = 0xCD9E8D57ull * P_counter.z;
    P_counter = make_uint4(unsigned(P_b >> 32) ^ P_counter.y ^ P_key.x, unsigned(P_b),
                           unsigned(P_a >> 32) ^ P_counter.w ^ P_key.y, unsigned(P_a));
    P_key.x += 0x9E3779B9u;
    P_key.y += 0xBB67AE85u;
  }
  return P_counter;
}

}  // namespace P_random
}  // namespace PyGPU
}
