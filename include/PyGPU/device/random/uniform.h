// Uniform numbers in (0, 1] of cuRAND's generators. But for MRG32k3a's scale they are made by
// conversions and powers of two alone, so they are the same on every machine.
#pragma once

#include "middle.h"
#include "mrg32k3a.h"
#include "philox.h"
#include "sobol.h"
#include "xorwow.h"

extern "C++" {
namespace PyGPU {
namespace random {

__device__ inline float uniform_of(unsigned x) { return middle(x); }
__device__ inline float uniform_of(unsigned long long x) { return middle(unsigned(x >> 32)); }
__device__ inline double uniform_double_of(unsigned x) {
  return fma(double(x), 2.3283064365386963e-10, 2.3283064365386963e-10);  // up to 1
}
__device__ inline double uniform_double_of(unsigned long long x) { return middle(x); }
// 53 bits of two words, which overlap.
__device__ inline unsigned long long mixed(unsigned x, unsigned y) {
  return x ^ static_cast<unsigned long long>(y) << 21;
}
__device__ inline double uniform_double_of(unsigned x, unsigned y) {
  return middle(mixed(x, y) << 11);
}

template <class State>
__device__ inline float uniform(State* state) {
  return uniform_of(random::next(state));
}
__device__ inline float uniform(curandStateMRG32k3a* state) {
  return float(difference(state) * 2.3283065498378288e-10);
}

// One word, except where cuRAND takes two.
template <class State>
__device__ inline double uniform_double(State* state) {
  return uniform_double_of(random::next(state));
}
__device__ inline double uniform_double(curandStateXORWOW* state) {
  const unsigned x = random::next(state);
  return uniform_double_of(x, random::next(state));
}
__device__ inline double uniform_double(curandStateMRG32k3a* state) {
  return difference(state) * 2.3283065498378288e-10;
}

}  // namespace random
}  // namespace PyGPU
}
