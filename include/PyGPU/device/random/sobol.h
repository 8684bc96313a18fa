// Generators of Sobol's sequences in cuRAND, plain and scrambled, of 32 and 64 bits. The points
// follow the order of the Gray code (Antonov and Saleev 1979).
#pragma once

#include "states.h"

extern "C++" {
namespace PyGPU {
namespace P_random {

__device__ inline int P_lowest_zero(unsigned P_x) { return ~P_x ? __ffs(int(~P_x)) - 1 : 31; }
__device__ inline int P_lowest_zero(unsigned long long P_x) {
  return ~P_x ? __ffsll(static_cast<long long>(~P_x)) - 1 : 63;
}

// Only the states of these sequences have a member x.
template <class P_State>
__device__ inline decltype(P_State().x) P_next(P_State* P_state) {
  const decltype(P_State().x) P_x = P_state->x;
  P_state->x ^= P_state->direction_vectors[P_lowest_zero(P_state->i)];
  ++P_state->i;
  return P_x;
}

template <class P_State>
__device__ inline void P_skip(P_State* P_state, decltype(P_State().x) P_n) {
  P_state->i += P_n;
  P_state->x = P_state->c;
  decltype(P_State().x) P_code = P_state->i ^ P_state->i >> 1;
  for (int P_bit = 0; P_code != 0; ++P_bit, P_code >>= 1) {
    if (P_code & 1) P_state->x ^= P_state->direction_vectors[P_bit];
  }
}

template <class P_State>
__device__ inline void P_start(P_State* P_state, const decltype(P_State().x)* P_vectors,
                               decltype(P_State().x) P_scramble, decltype(P_State().x) P_offset) {
  P_state->i = 0;
  P_state->c = P_scramble;
  for (int P_bit = 0; P_bit < int(8 * sizeof(P_scramble)); ++P_bit) {
    P_state->direction_vectors[P_bit] = P_vectors[P_bit];
  }
  P_random::P_skip(P_state, P_offset);
}

}  // namespace P_random
}  // namespace PyGPU
}
