// Functions of cuRAND that only Philox4_32_10 has: two and four numbers at once.
#pragma once

#include "poisson.h"

#ifdef __NV_SILENCE_DEPRECATION_BEGIN  // CUDA 13 warns of double4
__NV_SILENCE_DEPRECATION_BEGIN
#endif

extern "C++" {

namespace PyGPU {
namespace P_random {
// Not by make_double4, for which CUDA 13 warns as well.
template <class P_Four, class P_T>
__device__ inline P_Four P_four(P_T P_x, P_T P_y, P_T P_z, P_T P_w) {
  P_Four P_all;
  P_all.x = P_x;
  P_all.y = P_y;
  P_all.z = P_z;
  P_all.w = P_w;
  return P_all;
}
}  // namespace P_random
}  // namespace PyGPU

__device__ inline uint4 curand4(curandStatePhilox4_32_10* P_state) {
  return PyGPU::P_random::P_next4(P_state);
}

__device__ inline float4 curand_uniform4(curandStatePhilox4_32_10* P_state) {
  const uint4 P_x = curand4(P_state);
  return make_float4(PyGPU::P_random::P_uniform_of(P_x.x), PyGPU::P_random::P_uniform_of(P_x.y),
                     PyGPU::P_random::P_uniform_of(P_x.z), PyGPU::P_random::P_uniform_of(P_x.w));
}
__device__ inline double2 curand_uniform2_double(curandStatePhilox4_32_10* P_state) {
  const uint4 P_x = curand4(P_state);
  return make_double2(PyGPU::P_random::P_uniform_double_of(P_x.x, P_x.y),
                      PyGPU::P_random::P_uniform_double_of(P_x.z, P_x.w));
}
__device__ inline double4 curand_uniform4_double(curandStatePhilox4_32_10* P_state) {
  const double2 P_a = curand_uniform2_double(P_state), P_b = curand_uniform2_double(P_state);
  return PyGPU::P_random::P_four<double4>(P_a.x, P_a.y, P_b.x, P_b.y);
}

__device__ inline float4 curand_normal4(curandStatePhilox4_32_10* P_state) {
  const float2 P_a = PyGPU::P_random::P_normal_pair(P_state, 0.0f);
  const float2 P_b = PyGPU::P_random::P_normal_pair(P_state, 0.0f);
  return make_float4(P_a.x, P_a.y, P_b.x, P_b.y);
}
__device__ inline double4 curand_normal4_double(curandStatePhilox4_32_10* P_state) {
  const double2 P_a = PyGPU::P_random::P_normal_pair(P_state, 0.0);
  const double2 P_b = PyGPU::P_random::P_normal_pair(P_state, 0.0);
  return PyGPU::P_random::P_four<double4>(P_a.x, P_a.y, P_b.x, P_b.y);
}

__device__ inline float4 curand_log_normal4(curandStatePhilox4_32_10* P_state, float P_mean,
                                            float P_stddev) {
  const float4 P_z = curand_normal4(P_state);
  return make_float4(PyGPU::P_random::P_log_normal_of(P_z.x, P_mean, P_stddev),
                     PyGPU::P_random::P_log_normal_of(P_z.y, P_mean, P_stddev),
                     PyGPU::P_random::P_log_normal_of(P_z.z, P_mean, P_stddev),
                     PyGPU::P_random::P_log_normal_of(P_z.w, P_mean, P_stddev));
}
__device__ inline double4 curand_log_normal4_double(curandStatePhilox4_32_10* P_state,
                                                    double P_mean, double P_stddev) {
  const double4 P_z = curand_normal4_double(P_state);
  return PyGPU::P_random::P_four<double4>(
      PyGPU::P_random::P_log_normal_of(P_z.x, P_mean, P_stddev),
      PyGPU::P_random::P_log_normal_of(P_z.y, P_mean, P_stddev),
      PyGPU::P_random::P_log_normal_of(P_z.z, P_mean, P_stddev),
      PyGPU::P_random::P_log_normal_of(P_z.w, P_mean, P_stddev));
}

namespace PyGPU {
namespace P_random {
__device__ inline uint4 P_rounded_normal4(double4 P_z, double P_mean, double P_stddev) {
  return make_uint4(
      P_rounded_normal(P_z.x, P_mean, P_stddev), P_rounded_normal(P_z.y, P_mean, P_stddev),
      P_rounded_normal(P_z.z, P_mean, P_stddev), P_rounded_normal(P_z.w, P_mean, P_stddev));
}
}  // namespace P_random
}  // namespace PyGPU

// Four normal numbers are always generated anew; the number that the state keeps is not used.
__device__ inline uint4 curand_poisson4(curandStatePhilox4_32_10* P_state, double P_mean) {
  if (P_mean > 4000) {
    return PyGPU::P_random::P_rounded_normal4(curand_normal4_double(P_state), P_mean, sqrt(P_mean));
  }
  uint4 P_k;
  P_k.x = PyGPU::P_random::P_poisson(P_state, P_mean);
  P_k.y = PyGPU::P_random::P_poisson(P_state, P_mean);
  P_k.z = PyGPU::P_random::P_poisson(P_state, P_mean);
  P_k.w = PyGPU::P_random::P_poisson(P_state, P_mean);
  return P_k;
}
__device__ inline uint4 curand_discrete4(curandStatePhilox4_32_10* P_state,
                                         curandDiscreteDistribution_t P_distribution) {
  if (P_distribution->method != CURAND_M2) {
    return PyGPU::P_random::P_rounded_normal4(curand_normal4_double(P_state), P_distribution->mean,
                                              P_distribution->stddev);
  }
  const uint4 P_x = curand4(P_state);
  const curandDistributionM2Shift_st* P_table = P_distribution->M2;
  return make_uint4(PyGPU::P_random::P_by_histogram(P_x.x, P_table),
                    PyGPU::P_random::P_by_histogram(P_x.y, P_table),
                    PyGPU::P_random::P_by_histogram(P_x.z, P_table),
                    PyGPU::P_random::P_by_histogram(P_x.w, P_table));
}
}

#ifdef __NV_SILENCE_DEPRECATION_BEGIN
__NV_SILENCE_DEPRECATION_END
#endif
