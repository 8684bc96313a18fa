// Uniform numbers in (0, 1] of cuRAND's generators. Except for MRG32k3a's scale, they use only
// conversions and powers of two, so they are the same on every machine.
#pragma once

#include "middle.h"
#include "mrg32k3a.h"
#include "philox.h"
#include "sobol.h"
#include "xorwow.h"

extern "C++" {
namespace PyGPU {
namespace P_random {

__device__ inline float P_uniform_of(unsigned P_x) { return P_middle(P_x); }
__device__ inline float P_uniform_of(unsigned long long P_x) {
  return P_middle(unsigned(P_x >> 32));
}
__device__ inline double P_uniform_double_of(unsigned P_x) {
  return fma(double(P_x), 2.3283064365386963e-10, 2.3283064365386963e-10);  // at most 1
}
__device__ inline double P_uniform_double_of(unsigned long long P_x) { return P_middle(P_x); }
// Combine two words into 53 bits; 11 bits of the words overlap.
__device__ inline unsigned long long P_mixed(unsigned P_x, unsigned P_y) {
  return P_x ^ static_cast<unsigned long long>(P_y) << 21;
}
__device__ inline double P_uniform_double_of(unsigned P_x, unsigned P_y) {
  return P_middle(P_mixed(P_x, P_y) << 11);
}

template <class P_State>
__device__ inline float P_uniform(P_State* P_state) {
  return P_uniform_of(P_random::P_next(P_state));
}
__device__ inline float P_uniform(curandStateMRG32k3a* P_state) {
  return float(P_difference(P_state) * 2.3283065498378288e-10);
}

// Draw one word, or two for the generators of which cuRAND draws two.
template <class P_State>
__device__ inline double P_uniform_double(P_State* P_state) {
  return P_uniform_double_of(P_random::P_next(P_state));
}
__device__ inline double P_uniform_double(curandStateXORWOW* P_state) {
  const unsigned P_x = P_random::P_next(P_state);
  return P_uniform_double_of(P_x, P_random::P_next(P_state));
}
__device__ inline double P_uniform_double(curandStateMRG32k3a* P_state) {
  return P_difference(P_state) * 2.3283065498378288e-10;
}

}  // namespace P_random
}  // namespace PyGPU
}
