// cuRAND's generator XORWOW: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003).
// Sequences are 2^67 numbers apart.
#pragma once

#include "states.h"
#include "xorwow_jumps.h"

extern "C++" {
namespace PyGPU {
namespace random {

static const unsigned weyl_step = 362437;

// The word that follows five, of which it takes the first and the last.
__device__ inline unsigned xorshift(unsigned first, unsigned last) {
  const unsigned t = first ^ (first >> 2);
  return last ^ (last << 4) ^ t ^ (t << 1);
}

// n times 2^first steps: a polynomial of the step is the sum of the states at its powers (Haramoto
// and others, "Efficient jump ahead for F2-linear random number generators", 2008). All stays in
// registers.
__device__ inline void jump(unsigned v[5], int first, unsigned long long n) {
  unsigned v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3], v4 = v[4];
  for (int k = first; n != 0; n >>= 1, ++k) {
    if ((n & 1) == 0) continue;
    unsigned sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0, sum4 = 0;
    for (int power = 0; power < 160; ++power) {
      const unsigned taken = 0u - (xorshift_jumps[k][power / 32] >> power % 32 & 1u);
      sum0 ^= v0 & taken;
      sum1 ^= v1 & taken;
      sum2 ^= v2 & taken;
      sum3 ^= v3 & taken;
      sum4 ^= v4 & taken;
      const unsigned next = xorshift(v0, v4);
      v0 = v1;
      v1 = v2;
      v2 = v3;
      v3 = v4;
      v4 = next;
    }
    v0 = sum0;
    v1 = sum1;
    v2 = sum2;
    v3 = sum3;
    v4 = sum4;
  }
  v[0] = v0;
  v[1] = v1;
  v[2] = v2;
  v[3] = v3;
  v[4] = v4;
}

__device__ inline void skip(curandStateXORWOW* state, unsigned long long n) {
  jump(state->v, 0, n);
  state->d += weyl_step * unsigned(n);
}
__device__ inline void skip_sequence(curandStateXORWOW* state, unsigned long long n) {
  jump(state->v, 67, n);  // d comes back to where it was every 2^32 steps
}

// How cuRAND mixes the seed into Marsaglia's initial values.
__device__ inline void start(curandStateXORWOW* state, unsigned long long seed,
                             unsigned long long sequence, unsigned long long offset) {
  const unsigned low = 1099087573u * (unsigned(seed) ^ 0xaad26b49u);
  const unsigned high = 2591861531u * (unsigned(seed >> 32) ^ 0xf7dcefddu);
  *state = curandStateXORWOW();
  state->d = 6615241u + low + high;
  state->v[0] = 123456789u + low;
  state->v[1] = 362436069u ^ low;
  state->v[2] = 521288629u + high;
  state->v[3] = 88675123u ^ high;
  state->v[4] = 5783321u + low;
  random::skip_sequence(state, sequence);
  random::skip(state, offset);
}

__device__ inline unsigned next(curandStateXORWOW* state) {
  unsigned* v = state->v;
  const unsigned last = xorshift(v[0], v[4]);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = last;
  state->d += weyl_step;
  return last + state->d;
}

}  // namespace random
}  // namespace PyGPU
}
