// cuRAND's generator MRG32k3a: L'Ecuyer, "Good parameters and implementations for combined multiple
// recursive random number generators", Operations Research 47 (1999). Subsequences are 2^76 numbers
// apart, sequences 2^127.
#pragma once

#include "states.h"

extern "C++" {
namespace PyGPU {
namespace random {

// x[n] = P0 x[n-3] + P1 x[n-2] + P2 x[n-1] modulo M. What comes k steps later is a sum of three
// neighbours with the coefficients of X^k modulo the characteristic polynomial X^3 - P2 X^2 - P1 X
// - P0.
template <unsigned M, unsigned P0, unsigned P1, unsigned P2>
struct Recurrence {
  typedef unsigned long long wide;

  __device__ static unsigned product(unsigned a, unsigned b) { return unsigned(wide(a) * b % M); }
  __device__ static unsigned sum(const unsigned* a, const unsigned* b) {
    return unsigned((wide(product(a[0], b[0])) + product(a[1], b[1]) + product(a[2], b[2])) % M);
  }
  __device__ static unsigned next(unsigned s[3]) {
    const unsigned rule[3] = {P0, P1, P2}, x = sum(rule, s);
    s[0] = s[1];
    s[1] = s[2];
    s[2] = x;
    return x;
  }
  // a = a b
  __device__ static void multiply(unsigned a[3], const unsigned b[3]) {
    const unsigned rule[3] = {P0, P1, P2};
    wide r[5] = {0, 0, 0, 0, 0};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) r[i + j] += product(a[i], b[j]);
    }
    for (int k = 4; k >= 3; --k) {
      for (int i = 0; i < 3; ++i) r[k - 3 + i] += product(rule[i], unsigned(r[k] % M));
    }
    for (int i = 0; i < 3; ++i) a[i] = unsigned(r[i] % M);
  }
  // n times the jump whose polynomial is c0 + c1 X + c2 X^2.
  __device__ static void skip(unsigned s[3], unsigned long long n, unsigned c0, unsigned c1,
                              unsigned c2) {
    unsigned power[3] = {c0, c1, c2}, all[3] = {1, 0, 0};
    for (; n != 0; n >>= 1) {
      if (n & 1) multiply(all, power);
      multiply(power, power);
    }
    unsigned moved[3];
    for (int i = 0; i < 3; ++i) {
      moved[i] = sum(all, s);
      next(s);
    }
    for (int i = 0; i < 3; ++i) s[i] = moved[i];
  }
};
typedef Recurrence<4294967087u, 4294967087u - 810728u, 1403580u, 0u> First;
typedef Recurrence<4294944443u, 4294944443u - 1370589u, 0u, 527612u> Second;

__device__ inline void skip(curandStateMRG32k3a* state, unsigned long long n) {
  First::skip(state->s1, n, 0u, 1u, 0u);
  Second::skip(state->s2, n, 0u, 1u, 0u);
}
__device__ inline void skip_subsequence(curandStateMRG32k3a* state, unsigned long long n) {
  First::skip(state->s1, n, 82758667u, 1871391091u, 4127413238u);  // X^(2^76)
  Second::skip(state->s2, n, 1511326704u, 3759209742u, 1610795712u);
}
__device__ inline void skip_sequence(curandStateMRG32k3a* state, unsigned long long n) {
  First::skip(state->s1, n, 2427906178u, 3580155704u, 949770784u);  // X^(2^127)
  Second::skip(state->s2, n, 1464411153u, 277697599u, 1610723613u);
}

// How cuRAND mixes the seed into L'Ecuyer's initial values; 0 leaves them.
__device__ inline void start(curandStateMRG32k3a* state, unsigned long long seed,
                             unsigned long long subsequence, unsigned long long offset) {
  const unsigned low = unsigned(seed) ^ 0x55555555u, high = unsigned(seed >> 32) ^ 0xaaaaaaaau;
  *state = curandStateMRG32k3a();
  for (int i = 0; i < 3; ++i) {
    const bool is_even = i % 2 == 0;
    state->s1[i] = seed ? First::product(is_even ? low : high, 12345u) : 12345u;
    state->s2[i] = seed ? Second::product(is_even ? high : low, 12345u) : 12345u;
  }
  random::skip_subsequence(state, subsequence);
  random::skip(state, offset);
}

// From 1 to the first modulus.
__device__ inline unsigned difference(curandStateMRG32k3a* state) {
  const unsigned x = First::next(state->s1), y = Second::next(state->s2);
  return x > y ? x - y : x - y + 4294967087u;
}

// Stretched to 32 bits.
__device__ inline unsigned next(curandStateMRG32k3a* state) {
  const double stretched = difference(state) * 1.000000048662;
  return stretched < 4294967295.0 ? unsigned(stretched) : 4294967295u;
}

}  // namespace random
}  // namespace PyGPU
}
