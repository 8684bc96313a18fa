// cuRAND's generators of Sobol's sequences, plain and scrambled, of 32 and 64 bits: the points of
// given direction vectors in the order of Gray's code (Antonov and Saleev 1979).
#pragma once

#include "states.h"

extern "C++" {
namespace PyGPU {
namespace random {

__device__ inline int lowest_zero(unsigned x) { return ~x ? __ffs(int(~x)) - 1 : 31; }
__device__ inline int lowest_zero(unsigned long long x) {
  return ~x ? __ffsll(static_cast<long long>(~x)) - 1 : 63;
}

// Only the states of these sequences have an x.
template <class State>
__device__ inline decltype(State().x) next(State* state) {
  const decltype(State().x) x = state->x;
  state->x ^= state->direction_vectors[lowest_zero(state->i)];
  ++state->i;
  return x;
}

template <class State>
__device__ inline void skip(State* state, decltype(State().x) n) {
  state->i += n;
  state->x = state->c;
  decltype(State().x) code = state->i ^ state->i >> 1;
  for (int bit = 0; code != 0; ++bit, code >>= 1) {
    if (code & 1) state->x ^= state->direction_vectors[bit];
  }
}

template <class State>
__device__ inline void start(State* state, const decltype(State().x)* vectors,
                             decltype(State().x) scramble, decltype(State().x) offset) {
  state->i = 0;
  state->c = scramble;
  for (int bit = 0; bit < int(8 * sizeof(scramble)); ++bit) {
    state->direction_vectors[bit] = vectors[bit];
  }
  random::skip(state, offset);
}

}  // namespace random
}  // namespace PyGPU
}
