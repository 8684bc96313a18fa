// Normal and log-normal numbers of cuRAND's generators: in pairs by Box and Muller (1958), of which
// a state keeps the second, and by inversion for Sobol's sequences.
#pragma once

#include "uniform.h"

extern "C++" {
namespace PyGPU {
namespace random {

// A radius from u, an angle from turns of pi (double) or radians (float).
__device__ inline float2 box_muller(float u, float angle) {
  const float radius = sqrtf(-2.0f * logf(u));
  float sine, cosine;
  sincosf(angle, &sine, &cosine);
  return make_float2(radius * sine, radius * cosine);
}
__device__ inline double2 box_muller(double u, double half_turns) {
  const double radius = sqrt(-2.0 * log(u));
  double sine, cosine;
  sincospi(half_turns, &sine, &cosine);
  return make_double2(radius * sine, radius * cosine);
}
__device__ inline float2 normal_pair_of(unsigned x, unsigned y) {
  return box_muller(uniform_of(x), fmaf(float(y), 1.46291812e-09f, 7.3145906e-10f));  // 2^-32 2 pi
}
__device__ inline double2 normal_pair_of(uint4 x) {
  return box_muller(uniform_double_of(x.x, x.y), 2.0 * uniform_double_of(x.z, x.w));
}

// The type of the last argument, which is not used, says which of the two.
template <class State>
__device__ inline float2 normal_pair(State* state, float) {
  const unsigned x = random::next(state);
  return normal_pair_of(x, random::next(state));
}
template <class State>
__device__ inline double2 normal_pair(State* state, double) {
  uint4 x;
  x.x = random::next(state);
  x.y = random::next(state);
  x.z = random::next(state);
  x.w = random::next(state);
  return normal_pair_of(x);
}
__device__ inline float2 normal_pair(curandStateMRG32k3a* state, float) {
  const float u = random::uniform(state);
  return box_muller(u, random::uniform(state) * 6.2831855f);
}
__device__ inline double2 normal_pair(curandStateMRG32k3a* state, double) {
  const double u = random::uniform_double(state);
  return box_muller(u, 2.0 * random::uniform_double(state));
}

// By inversion from the nearer end, where numbers are dense.
__device__ inline float normal_of(unsigned x) {
  const bool is_upper = x > 0x80000000u;
  const float z = 1.4142135f * erfcinvf(2.0f * middle(is_upper ? ~x : x));
  return is_upper ? z : -z;
}
__device__ inline float normal_of(unsigned long long x) { return normal_of(unsigned(x >> 32)); }
__device__ inline double normal_double_of(unsigned x) {
  const bool is_upper = x > 0x80000000u;
  const double z = 1.4142135623730951 * erfcinv(2.0 * wide_middle(is_upper ? ~x : x));
  return is_upper ? z : -z;
}
__device__ inline double normal_double_of(unsigned long long x) {
  const bool is_upper = (x >> 11) > (1ull << 52);
  const double z = 1.4142135623730951 * erfcinv(2.0 * middle(is_upper ? ~x : x));
  return is_upper ? z : -z;
}

__device__ inline float log_normal_of(float z, float mean, float stddev) {
  return expf(fmaf(stddev, z, mean));
}
__device__ inline double log_normal_of(double z, double mean, double stddev) {
  return exp(fma(stddev, z, mean));
}

// What a state keeps: nothing, a normal or a log-normal number. A call for one of them drops the
// other.
enum Kept { kept_nothing, kept_normal, kept_log_normal };
template <class State>
__device__ inline int& kept(State* state, float) {
  return state->boxmuller_flag;
}
template <class State>
__device__ inline int& kept(State* state, double) {
  return state->boxmuller_flag_double;
}
template <class State>
__device__ inline float& extra(State* state, float) {
  return state->boxmuller_extra;
}
template <class State>
__device__ inline double& extra(State* state, double) {
  return state->boxmuller_extra_double;
}

template <class T, class State>
__device__ inline T normal(State* state) {
  if (random::kept(state, T()) == kept_normal) {
    random::kept(state, T()) = kept_nothing;
    return random::extra(state, T());
  }
  const auto pair = random::normal_pair(state, T());
  random::extra(state, T()) = pair.y;
  random::kept(state, T()) = kept_normal;
  return pair.x;
}
template <class T, class State>
__device__ inline T log_normal(State* state, T mean, T stddev) {
  if (random::kept(state, T()) == kept_log_normal) {
    random::kept(state, T()) = kept_nothing;
    return random::extra(state, T());
  }
  const auto pair = random::normal_pair(state, T());
  random::extra(state, T()) = log_normal_of(T(pair.y), mean, stddev);
  random::kept(state, T()) = kept_log_normal;
  return log_normal_of(T(pair.x), mean, stddev);
}

__device__ inline float2 log_normal_pair(float2 z, float mean, float stddev) {
  return make_float2(log_normal_of(z.x, mean, stddev), log_normal_of(z.y, mean, stddev));
}
__device__ inline double2 log_normal_pair(double2 z, double mean, double stddev) {
  return make_double2(log_normal_of(z.x, mean, stddev), log_normal_of(z.y, mean, stddev));
}

}  // namespace random
}  // namespace PyGPU
}
