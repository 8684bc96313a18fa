// cuRAND's generator XORWOW: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003).
// Sequences are 2^67 numbers apart.
#pragma once

#include "states.h"
#include "xorwow_jumps.h"

extern "C++" {
namespace PyGPU {
namespace random {

static const unsigned weyl_step = 362437;

__device__ inline void xorshift(unsigned v[5]) {
  const unsigned t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] ^= (v[4] << 4) ^ t ^ (t << 1);
}

// n times 2^first steps: a polynomial of the step is the sum of the states at its powers (Haramoto
// and others, "Efficient jump ahead for F2-linear random number generators", 2008).
__device__ inline void jump(unsigned v[5], int first, unsigned long long n) {
  for (int k = first; n != 0; n >>= 1, ++k) {
    if ((n & 1) == 0) continue;
    unsigned sum[5] = {0, 0, 0, 0, 0};
    for (int word = 0; word < 5; ++word) {
      unsigned bits = xorshift_jumps[k][word];
      for (int bit = 0; bit < 32; ++bit, bits >>= 1) {
        const unsigned taken = 0u - (bits & 1u);
        for (int i = 0; i < 5; ++i) sum[i] ^= v[i] & taken;
        xorshift(v);
      }
    }
    for (int i = 0; i < 5; ++i) v[i] = sum[i];
  }
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
  xorshift(state->v);
  state->d += weyl_step;
  return state->v[4] + state->d;
}

}  // namespace random
}  // namespace PyGPU
}
