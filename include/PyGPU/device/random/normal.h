// Normal and log-normal numbers of cuRAND's generators: pairs by Box and Muller (1958), of which a
// state keeps the second, and inversion for Sobol's sequences.
#pragma once

#include "uniform.h"

extern "C++" {
namespace PyGPU {
namespace P_random {

// Radius from u, and angle from turns of pi (double) or radians (float).
__device__ inline float2 P_box_muller(float P_u, float P_angle) {
  const float P_radius = sqrtf(-2.0f * logf(P_u));
  float P_sine, P_cosine;
  sincosf(P_angle, &P_sine, &P_cosine);
  return make_float2(P_radius * P_sine, P_radius * P_cosine);
}
__device__ inline double2 P_box_muller(double P_u, double P_half_turns) {
  const double P_radius = sqrt(-2.0 * log(P_u));
  double P_sine, P_cosine;
  sincospi(P_half_turns, &P_sine, &P_cosine);
  return make_double2(P_radius * P_sine, P_radius * P_cosine);
}
__device__ inline float2 P_normal_pair_of(unsigned P_x, unsigned P_y) {
  return P_box_muller(P_uniform_of(P_x),
                      fmaf(float(P_y), 1.46291812e-09f, 7.3145906e-10f));  // 2^-32 2 pi
}
__device__ inline double2 P_normal_pair_of(uint4 P_x) {
  return P_box_muller(P_uniform_double_of(P_x.x, P_x.y), 2.0 * P_uniform_double_of(P_x.z, P_x.w));
}

// The type of the unused last argument selects one of the two.
template <class P_State>
__device__ inline float2 P_normal_pair(P_State* P_state, float) {
  const unsigned P_x = P_random::P_next(P_state);
  return P_normal_pair_of(P_x, P_random::P_next(P_state));
}
template <class P_State>
__device__ inline double2 P_normal_pair(P_State* P_state, double) {
  uint4 P_x;
  P_x.x = P_random::P_next(P_state);
  P_x.y = P_random::P_next(P_state);
  P_x.z = P_random::P_next(P_state);
  P_x.w = P_random::P_next(P_state);
  return P_normal_pair_of(P_x);
}
__device__ inline float2 P_normal_pair(curandStateMRG32k3a* P_state, float) {
  const float P_u = P_random::P_uniform(P_state);
  return P_box_muller(P_u, P_random::P_uniform(P_state) * 6.2831855f);
}
__device__ inline double2 P_normal_pair(curandStateMRG32k3a* P_state, double) {
  const double P_u = P_random::P_uniform_double(P_state);
  return P_box_muller(P_u, 2.0 * P_random::P_uniform_double(P_state));
}

// Inversion from the nearer end of the interval, where numbers are dense.
__device__ inline float P_normal_of(unsigned P_x) {
  const bool P_is_upper = P_x > 0x80000000u;
  const float P_z = 1.4142135f * erfcinvf(2.0f * P_middle(P_is_upper ? ~P_x : P_x));
  return P_is_upper ? P_z : -P_z;
}
__device__ inline float P_normal_of(unsigned long long P_x) {
  return P_normal_of(unsigned(P_x >> 32));
}
__device__ inline double P_normal_double_of(unsigned P_x) {
  const bool P_is_upper = P_x > 0x80000000u;
  const double P_z = 1.4142135623730951 * erfcinv(2.0 * P_wide_middle(P_is_upper ? ~P_x : P_x));
  return P_is_upper ? P_z : -P_z;
}
__device__ inline double P_normal_double_of(unsigned long long P_x) {
  const bool P_is_upper = (P_x >> 11) > (1ull << 52);
  const double P_z = 1.4142135623730951 * erfcinv(2.0 * P_middle(P_is_upper ? ~P_x : P_x));
  return P_is_upper ? P_z : -P_z;
}

__device__ inline float P_log_normal_of(float P_z, float P_mean, float P_stddev) {
  return expf(fmaf(P_stddev, P_z, P_mean));
}
__device__ inline double P_log_normal_of(double P_z, double P_mean, double P_stddev) {
  return exp(fma(P_stddev, P_z, P_mean));
}

// Number that a state keeps: none, a normal or a log-normal one. A call for one kind drops a number
// of the other kind.
enum P_Kept { P_kept_nothing, P_kept_normal, P_kept_log_normal };
template <class P_State>
__device__ inline int& P_kept(P_State* P_state, float) {
  return P_state->boxmuller_flag;
}
template <class P_State>
__device__ inline int& P_kept(P_State* P_state, double) {
  return P_state->boxmuller_flag_double;
}
template <class P_State>
__device__ inline float& P_extra(P_State* P_state, float) {
  return P_state->boxmuller_extra;
}
template <class P_State>
__device__ inline double& P_extra(P_State* P_state, double) {
  return P_state->boxmuller_extra_double;
}

template <class P_T, class P_State>
__device__ inline P_T P_normal(P_State* P_state) {
  if (P_random::P_kept(P_state, P_T()) == P_kept_normal) {
    P_random::P_kept(P_state, P_T()) = P_kept_nothing;
    return P_random::P_extra(P_state, P_T());
  }
  const auto P_pair = P_random::P_normal_pair(P_state, P_T());
  P_random::P_extra(P_state, P_T()) = P_pair.y;
  P_random::P_kept(P_state, P_T()) = P_kept_normal;
  return P_pair.x;
}
template <class P_T, class P_State>
__device__ inline P_T P_log_normal(P_State* P_state, P_T P_mean, P_T P_stddev) {
  if (P_random::P_kept(P_state, P_T()) == P_kept_log_normal) {
    P_random::P_kept(P_state, P_T()) = P_kept_nothing;
    return P_random::P_extra(P_state, P_T());
  }
  const auto P_pair = P_random::P_normal_pair(P_state, P_T());
  P_random::P_extra(P_state, P_T()) = P_log_normal_of(P_T(P_pair.y), P_mean, P_stddev);
  P_random::P_kept(P_state, P_T()) = P_kept_log_normal;
  return P_log_normal_of(P_T(P_pair.x), P_mean, P_stddev);
}

__device__ inline float2 P_log_normal_pair(float2 P_z, float P_mean, float P_stddev) {
  return make_float2(P_log_normal_of(P_z.x, P_mean, P_stddev),
                     P_log_normal_of(P_z.y, P_mean, P_stddev));
}
__device__ inline double2 P_log_normal_pair(double2 P_z, double P_mean, double P_stddev) {
  return make_double2(P_log_normal_of(P_z.x, P_mean, P_stddev),
                      P_log_normal_of(P_z.y, P_mean, P_stddev));
}

}  // namespace P_random
}  // namespace PyGPU
}
