// Generator MRG32k3a of cuRAND: L'Ecuyer, "Good parameters and implementations for combined
// multiple recursive random number generators", Operations Research 47 (1999). Subsequences are
// 2^76 numbers apart, sequences 2^127.
#pragma once

#include "states.h"

extern "C++" {
namespace PyGPU {
namespace P_random {

// x[n] = P0 x[n-3] + P1 x[n-2] + P2 x[n-1] modulo M. The number k steps later is a sum of three
// neighbors, with the coefficients of X^k modulo the characteristic polynomial X^3 - P2 X^2 - P1 X
// - P0.
template <unsigned P_M, unsigned P_P0, unsigned P_P1, unsigned P_P2>
struct P_Recurrence {
  typedef unsigned long long P_wide;

  __device__ static unsigned P_product(unsigned P_a, unsigned P_b) {
    return unsigned(P_wide(P_a) * P_b % P_M);
  }
  __device__ static unsigned P_sum(const unsigned* P_a, const unsigned* P_b) {
    return unsigned((P_wide(P_product(P_a[0], P_b[0])) + P_product(P_a[1], P_b[1]) +
                     P_product(P_a[2], P_b[2])) %
                    P_M);
  }
  __device__ static unsigned P_next(unsigned P_s[3]) {
    const unsigned P_rule[3] = {P_P0, P_P1, P_P2}, P_x = P_sum(P_rule, P_s);
    P_s[0] = P_s[1];
    P_s[1] = P_s[2];
    P_s[2] = P_x;
    return P_x;
  }
  // a = a b
  __device__ static void P_multiply(unsigned P_a[3], const unsigned P_b[3]) {
    const unsigned P_rule[3] = {P_P0, P_P1, P_P2};
    P_wide P_r[5] = {0, 0, 0, 0, 0};
    for (int P_i = 0; P_i < 3; ++P_i) {
      for (int P_j = 0; P_j < 3; ++P_j) P_r[P_i + P_j] += P_product(P_a[P_i], P_b[P_j]);
    }
    for (int P_k = 4; P_k >= 3; --P_k) {
      for (int P_i = 0; P_i < 3; ++P_i)
        P_r[P_k - 3 + P_i] += P_product(P_rule[P_i], unsigned(P_r[P_k] % P_M));
    }
    for (int P_i = 0; P_i < 3; ++P_i) P_a[P_i] = unsigned(P_r[P_i] % P_M);
  }
  // Jump n times by the polynomial c0 + c1 X + c2 X^2.
  __device__ static void P_skip(unsigned P_s[3], unsigned long long P_n, unsigned P_c0,
                                unsigned P_c1, unsigned P_c2) {
    unsigned P_power[3] = {P_c0, P_c1, P_c2}, P_all[3] = {1, 0, 0};
    for (; P_n != 0; P_n >>= 1) {
      if (P_n & 1) P_multiply(P_all, P_power);
      P_multiply(P_power, P_power);
    }
    unsigned P_moved[3];
    for (int P_i = 0; P_i < 3; ++P_i) {
      P_moved[P_i] = P_sum(P_all, P_s);
      P_next(P_s);
    }
    for (int P_i = 0; P_i < 3; ++P_i) P_s[P_i] = P_moved[P_i];
  }
};
typedef P_Recurrence<4294967087u, 4294967087u - 810728u, 1403580u, 0u> P_First;
typedef P_Recurrence<4294944443u, 4294944443u - 1370589u, 0u, 527612u> P_Second;

__device__ inline void P_skip(curandStateMRG32k3a* P_state, unsigned long long P_n) {
  P_First::P_skip(P_state->s1, P_n, 0u, 1u, 0u);
  P_Second::P_skip(P_state->s2, P_n, 0u, 1u, 0u);
}
__device__ inline void P_skip_subsequence(curandStateMRG32k3a* P_state, unsigned long long P_n) {
  P_First::P_skip(P_state->s1, P_n, 82758667u, 1871391091u, 4127413238u);  // X^(2^76)
  P_Second::P_skip(P_state->s2, P_n, 1511326704u, 3759209742u, 1610795712u);
}
__device__ inline void P_skip_sequence(curandStateMRG32k3a* P_state, unsigned long long P_n) {
  P_First::P_skip(P_state->s1, P_n, 2427906178u, 3580155704u, 949770784u);  // X^(2^127)
  P_Second::P_skip(P_state->s2, P_n, 1464411153u, 277697599u, 1610723613u);
}

// Mix the seed into L'Ecuyer's initial values as cuRAND does; 0 leaves them unchanged.
__device__ inline void P_start(curandStateMRG32k3a* P_state, unsigned long long P_seed,
                               unsigned long long P_subsequence, unsigned long long P_offset) {
  const unsigned P_low = unsigned(P_seed) ^ 0x55555555u,
                 P_high = unsigned(P_seed >> 32) ^ 0xaaaaaaaau;
  *P_state = curandStateMRG32k3a();
  for (int P_i = 0; P_i < 3; ++P_i) {
    const bool P_is_even = P_i % 2 == 0;
    P_state->s1[P_i] = P_seed ? P_First::P_product(P_is_even ? P_low : P_high, 12345u) : 12345u;
    P_state->s2[P_i] = P_seed ? P_Second::P_product(P_is_even ? P_high : P_low, 12345u) : 12345u;
  }
  P_random::P_skip_subsequence(P_state, P_subsequence);
  P_random::P_skip(P_state, P_offset);
}

// Next number, from 1 to the first modulus.
__device__ inline unsigned P_difference(curandStateMRG32k3a* P_state) {
  const unsigned P_x = P_First::P_next(P_state->s1), P_y = P_Second::P_next(P_state->s2);
  return P_x > P_y ? P_x - P_y : P_x - P_y + 4294967087u;
}

// The number scaled to 32 bits.
__device__ inline unsigned P_next(curandStateMRG32k3a* P_state) {
  const double P_stretched = P_difference(P_state) * 1.000000048662;
  return P_stretched < 4294967295.0 ? unsigned(P_stretched) : 4294967295u;
}

}  // namespace P_random
}  // namespace PyGPU
}
