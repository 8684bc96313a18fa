// Generator XORWOW of cuRAND: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003).
// Sequences are 2^67 numbers apart.
#pragma once

#include "states.h"
#include "xorwow_jumps.h"

extern "C++" {
namespace PyGPU {
namespace P_random {

static const unsigned P_weyl_step = 362437;

// Next word after five words; it depends on the first and the last.
__device__ inline unsigned P_xorshift(unsigned P_first, unsigned P_last) {
  const unsigned P_t = P_first ^ (P_first >> 2);
  return P_last ^ (P_last << 4) ^ P_t ^ (P_t << 1);
}

// Advance by n times 2^first steps. A polynomial of the step is the sum of the states at its powers
// (Haramoto and others, "Efficient jump ahead for F2-linear random number generators", 2008).
// Everything stays in registers.
__device__ inline void P_jump(unsigned P_v[5], int P_first, unsigned long long P_n) {
  unsigned P_v0 = P_v[0], P_v1 = P_v[1], P_v2 = P_v[2], P_v3 = P_v[3], P_v4 = P_v[4];
  for (int P_k = P_first; P_n != 0; P_n >>= 1, ++P_k) {
    if ((P_n & 1) == 0) continue;
    unsigned P_sum0 = 0, P_sum1 = 0, P_sum2 = 0, P_sum3 = 0, P_sum4 = 0;
    for (int P_power = 0; P_power < 160; ++P_power) {
      const unsigned P_taken = 0u - (P_xorshift_jumps[P_k][P_power / 32] >> P_power % 32 & 1u);
      P_sum0 ^= P_v0 & P_taken;
      P_sum1 ^= P_v1 & P_taken;
      P_sum2 ^= P_v2 & P_taken;
      P_sum3 ^= P_v3 & P_taken;
      P_sum4 ^= P_v4 & P_taken;
      const unsigned P_next = P_xorshift(P_v0, P_v4);
      P_v0 = P_v1;
      P_v1 = P_v2;
      P_v2 = P_v3;
      P_v3 = P_v4;
      P_v4 = P_next;
    }
    P_v0 = P_sum0;
    P_v1 = P_sum1;
    P_v2 = P_sum2;
    P_v3 = P_sum3;
    P_v4 = P_sum4;
  }
  P_v[0] = P_v0;
  P_v[1] = P_v1;
  P_v[2] = P_v2;
  P_v[3] = P_v3;
  P_v[4] = P_v4;
}

__device__ inline void P_skip(curandStateXORWOW* P_state, unsigned long long P_n) {
  P_jump(P_state->v, 0, P_n);
  P_state->d += P_weyl_step * unsigned(P_n);
}
__device__ inline void P_skip_sequence(curandStateXORWOW* P_state, unsigned long long P_n) {
  P_jump(P_state->v, 67, P_n);  // d repeats every 2^32 steps
}

// Mix the seed into Marsaglia's initial values as cuRAND does.
__device__ inline void P_start(curandStateXORWOW* P_state, unsigned long long P_seed,
                               unsigned long long P_sequence, unsigned long long P_offset) {
  const unsigned P_low = 1099087573u * (unsigned(P_seed) ^ 0xaad26b49u);
  const unsigned P_high = 2591861531u * (unsigned(P_seed >> 32) ^ 0xf7dcefddu);
  *P_state = curandStateXORWOW();
  P_state->d = 6615241u + P_low + P_high;
  P_state->v[0] = 123456789u + P_low;
  P_state->v[1] = 362436069u ^ P_low;
  P_state->v[2] = 521288629u + P_high;
  P_state->v[3] = 88675123u ^ P_high;
  P_state->v[4] = 5783321u + P_low;
  P_random::P_skip_sequence(P_state, P_sequence);
  P_random::P_skip(P_state, P_offset);
}

__device__ inline unsigned P_next(curandStateXORWOW* P_state) {
  unsigned* P_v = P_state->v;
  const unsigned P_last = P_xorshift(P_v[0], P_v[4]);
  P_v[0] = P_v[1];
  P_v[1] = P_v[2];
  P_v[2] = P_v[3];
  P_v[3] = P_v[4];
  P_v[4] = P_last;
  P_state->d += P_weyl_step;
  return P_last + P_state->d;
}

}  // namespace P_random
}  // namespace PyGPU
}
