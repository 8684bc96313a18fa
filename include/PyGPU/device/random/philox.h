// cuRAND's generator Philox4_32_10: four words a counter. A subsequence is the upper half of the
// counter, an offset its lower half and the word of the four.
#pragma once

#include "philox_rounds.h"
#include "states.h"

extern "C++" {
namespace PyGPU {
namespace random {

// The counter goes on by n + 2^64 sequences.
__device__ inline void advance(curandStatePhilox4_32_10* state, unsigned long long n,
                               unsigned long long sequences) {
  typedef unsigned long long wide;
  uint4& counter = state->ctr;
  const wide low = (wide(counter.y) << 32 | counter.x) + n;
  const wide high = (wide(counter.w) << 32 | counter.z) + sequences + (low < n);
  counter = make_uint4(unsigned(low), unsigned(low >> 32), unsigned(high), unsigned(high >> 32));
  state->output = philox4x32_10(counter, state->key);
}

__device__ inline void skip(curandStatePhilox4_32_10* state, unsigned long long n) {
  const unsigned place = state->STATE + unsigned(n & 3);
  state->STATE = place & 3;
  random::advance(state, n / 4 + place / 4, 0);
}

__device__ inline void skip_sequence(curandStatePhilox4_32_10* state, unsigned long long n) {
  random::advance(state, 0, n);
}

__device__ inline void start(curandStatePhilox4_32_10* state, unsigned long long seed,
                             unsigned long long sequence, unsigned long long offset) {
  *state = curandStatePhilox4_32_10();
  state->key.x = unsigned(seed);
  state->key.y = unsigned(seed >> 32);
  random::skip_sequence(state, sequence);
  random::skip(state, offset);
}

__device__ inline unsigned next(curandStatePhilox4_32_10* state) {
  const uint4 words = state->output;
  const unsigned place = state->STATE;
  state->STATE = (place + 1) & 3;
  if (place == 3) random::advance(state, 1, 0);
  return place == 0 ? words.x : place == 1 ? words.y : place == 2 ? words.z : words.w;
}

__device__ inline uint4 next4(curandStatePhilox4_32_10* state) {
  const uint4 a = state->output;
  random::advance(state, 1, 0);
  const uint4 b = state->output;
  switch (state->STATE) {
    case 1: return make_uint4(a.y, a.z, a.w, b.x);
    case 2: return make_uint4(a.z, a.w, b.x, b.y);
    case 3: return make_uint4(a.w, b.x, b.y, b.z);
    default: return a;
  }
}

}  // namespace random
}  // namespace PyGPU
}
