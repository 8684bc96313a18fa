// Generator Philox4_32_10 of cuRAND: four words per counter. A subsequence is the upper half of the
// counter; an offset is the lower half, and the index of the word.
#pragma once

#include "philox_rounds.h"
#include "states.h"

extern "C++" {
namespace PyGPU {
namespace P_random {

// Advance the counter by n + 2^64 sequences.
__device__ inline void P_advance(curandStatePhilox4_32_10* P_state, unsigned long long P_n,
                                 unsigned long long P_sequences) {
  typedef unsigned long long P_wide;
  uint4& P_counter = P_state->ctr;
  const P_wide P_low = (P_wide(P_counter.y) << 32 | P_counter.x) + P_n;
  const P_wide P_high = (P_wide(P_counter.w) << 32 | P_counter.z) + P_sequences + (P_low < P_n);
  P_counter =
      make_uint4(unsigned(P_low), unsigned(P_low >> 32), unsigned(P_high), unsigned(P_high >> 32));
  P_state->output = P_philox4x32_10(P_counter, P_state->key);
}

__device__ inline void P_skip(curandStatePhilox4_32_10* P_state, unsigned long long P_n) {
  const unsigned P_place = P_state->STATE + unsigned(P_n & 3);
  P_state->STATE = P_place & 3;
  P_random::P_advance(P_state, P_n / 4 + P_place / 4, 0);
}

__device__ inline void P_skip_sequence(curandStatePhilox4_32_10* P_state, unsigned long long P_n) {
  P_random::P_advance(P_state, 0, P_n);
}

__device__ inline void P_start(curandStatePhilox4_32_10* P_state, unsigned long long P_seed,
                               unsigned long long P_sequence, unsigned long long P_offset) {
  *P_state = curandStatePhilox4_32_10();
  P_state->key.x = unsigned(P_seed);
  P_state->key.y = unsigned(P_seed >> 32);
  P_random::P_skip_sequence(P_state, P_sequence);
  P_random::P_skip(P_state, P_offset);
}

__device__ inline unsigned P_next(curandStatePhilox4_32_10* P_state) {
  const uint4 P_words = P_state->output;
  const unsigned P_place = P_state->STATE;
  P_state->STATE = (P_place + 1) & 3;
  if (P_place == 3) P_random::P_advance(P_state, 1, 0);
  return P_place == 0 ? P_words.x : P_place == 1 ? P_words.y : P_place == 2 ? P_words.z : P_words.w;
}

__device__ inline uint4 P_next4(curandStatePhilox4_32_10* P_state) {
  const uint4 P_a = P_state->output;
  P_random::P_advance(P_state, 1, 0);
  const uint4 P_b = P_state->output;
  switch (P_state->STATE) {
    case 1: return make_uint4(P_a.y, P_a.z, P_a.w, P_b.x);
    case 2: return make_uint4(P_a.z, P_a.w, P_b.x, P_b.y);
    case 3: return make_uint4(P_a.w, P_b.x, P_b.y, P_b.z);
    default: return P_a;
  }
}

}  // namespace P_random
}  // namespace PyGPU
}
