// cuRAND's functions that only Philox4_32_10 has: two and four numbers at once.
#pragma once

#include "poisson.h"

#ifdef __NV_SILENCE_DEPRECATION_BEGIN  // CUDA 13 warns of double4
__NV_SILENCE_DEPRECATION_BEGIN
#endif

extern "C++" {

namespace PyGPU {
namespace random {
// Not by make_double4, of which CUDA 13 warns all the same.
template <class Four, class T>
__device__ inline Four four(T x, T y, T z, T w) {
  Four all;
  all.x = x;
  all.y = y;
  all.z = z;
  all.w = w;
  return all;
}
}  // namespace random
}  // namespace PyGPU

__device__ inline uint4 curand4(curandStatePhilox4_32_10* state) {
  return PyGPU::random::next4(state);
}

__device__ inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return make_float4(PyGPU::random::uniform_of(x.x), PyGPU::random::uniform_of(x.y),
                     PyGPU::random::uniform_of(x.z), PyGPU::random::uniform_of(x.w));
}
__device__ inline double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return make_double2(PyGPU::random::uniform_double_of(x.x, x.y),
                      PyGPU::random::uniform_double_of(x.z, x.w));
}
__device__ inline double4 curand_uniform4_double(curandStatePhilox4_32_10* state) {
  const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
  return PyGPU::random::four<double4>(a.x, a.y, b.x, b.y);
}

__device__ inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const float2 a = PyGPU::random::normal_pair(state, 0.0f);
  const float2 b = PyGPU::random::normal_pair(state, 0.0f);
  return make_float4(a.x, a.y, b.x, b.y);
}
__device__ inline double4 curand_normal4_double(curandStatePhilox4_32_10* state) {
  const double2 a = PyGPU::random::normal_pair(state, 0.0);
  const double2 b = PyGPU::random::normal_pair(state, 0.0);
  return PyGPU::random::four<double4>(a.x, a.y, b.x, b.y);
}

__device__ inline float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean,
                                            float stddev) {
  const float4 z = curand_normal4(state);
  return make_float4(PyGPU::random::log_normal_of(z.x, mean, stddev),
                     PyGPU::random::log_normal_of(z.y, mean, stddev),
                     PyGPU::random::log_normal_of(z.z, mean, stddev),
                     PyGPU::random::log_normal_of(z.w, mean, stddev));
}
__device__ inline double4 curand_log_normal4_double(curandStatePhilox4_32_10* state, double mean,
                                                    double stddev) {
  const double4 z = curand_normal4_double(state);
  return PyGPU::random::four<double4>(PyGPU::random::log_normal_of(z.x, mean, stddev),
                                      PyGPU::random::log_normal_of(z.y, mean, stddev),
                                      PyGPU::random::log_normal_of(z.z, mean, stddev),
                                      PyGPU::random::log_normal_of(z.w, mean, stddev));
}

namespace PyGPU {
namespace random {
__device__ inline uint4 rounded_normal4(double4 z, double mean, double stddev) {
  return make_uint4(rounded_normal(z.x, mean, stddev), rounded_normal(z.y, mean, stddev),
                    rounded_normal(z.z, mean, stddev), rounded_normal(z.w, mean, stddev));
}
}  // namespace random
}  // namespace PyGPU

// Normal numbers are four new ones: what the state keeps stays.
__device__ inline uint4 curand_poisson4(curandStatePhilox4_32_10* state, double mean) {
  if (mean > 4000) {
    return PyGPU::random::rounded_normal4(curand_normal4_double(state), mean, sqrt(mean));
  }
  uint4 k;
  k.x = PyGPU::random::poisson(state, mean);
  k.y = PyGPU::random::poisson(state, mean);
  k.z = PyGPU::random::poisson(state, mean);
  k.w = PyGPU::random::poisson(state, mean);
  return k;
}
__device__ inline uint4 curand_discrete4(curandStatePhilox4_32_10* state,
                                         curandDiscreteDistribution_t distribution) {
  if (distribution->method != CURAND_M2) {
    return PyGPU::random::rounded_normal4(curand_normal4_double(state), distribution->mean,
                                          distribution->stddev);
  }
  const uint4 x = curand4(state);
  const curandDistributionM2Shift_st* table = distribution->M2;
  return make_uint4(
      PyGPU::random::by_histogram(x.x, table), PyGPU::random::by_histogram(x.y, table),
      PyGPU::random::by_histogram(x.z, table), PyGPU::random::by_histogram(x.w, table));
}
}

#ifdef __NV_SILENCE_DEPRECATION_BEGIN
__NV_SILENCE_DEPRECATION_END
#endif
