// Conversion of a word to the unit interval, at the middle of the word's subinterval: never 0, and
// 1 only by rounding. It uses only conversions and powers of two, so it is the same on every
// machine.
#pragma once

extern "C++" {
namespace PyGPU {
namespace P_random {

__device__ inline float P_middle(unsigned P_x) {
  return fmaf(float(P_x), 2.3283064365386963e-10f, 1.1641532182693481e-10f);  // 2^-32 and its half
}
__device__ inline double P_middle(unsigned long long P_x) {
  return fma(double(P_x >> 11), 1.1102230246251565e-16, 5.5511151231257827e-17);  // 2^-53, its half
}
// From 32 bits, all of which are used; never 1.
__device__ inline double P_wide_middle(unsigned P_x) {
  return fma(double(P_x), 2.3283064365386963e-10, 1.1641532182693481e-10);
}

}  // namespace P_random
}  // namespace PyGPU
}
