// Poisson and discrete numbers of cuRAND's generators. They follow cuRAND's choice of methods and
// its constants, which determine the numbers.
#pragma once

#include "normal.h"

extern "C++" {
namespace PyGPU {
namespace P_random {

// Round to nearest; negative numbers and NaN become 0, as a GPU converts them.
__device__ inline unsigned P_rounded(double P_x) {
  P_x += 0.5;
  return !(P_x >= 1.0) ? 0u : P_x < 4294967295.0 ? unsigned(P_x) : 4294967295u;
}
__device__ inline unsigned P_rounded_normal(double P_z, double P_mean, double P_stddev) {
  return P_rounded(fma(P_stddev, P_z, P_mean));
}

// Multiply uniform numbers until their product falls below exp(-mean): Knuth, "The Art of Computer
// Programming", volume 2.
template <class P_State>
__device__ inline unsigned P_poisson_by_product(P_State* P_state, float P_mean) {
  unsigned P_count = 0;
  for (float P_product = expf(P_mean) * P_random::P_uniform(P_state); P_product > 1.0f;
       P_product *= P_random::P_uniform(P_state)) {
    ++P_count;
  }
  return P_count;
}

// Approximate distribution of a gamma variable of shape a: 1 / (1 + exp(t))^2, with t linear in x.
struct P_GammaEstimate {
  float P_shape, P_slope, P_start;
  __device__ explicit P_GammaEstimate(float P_a)
      : P_shape(P_a),
        P_slope(fmaf(1.4324803507554091f, 1.0f / sqrtf(P_a - 0.12400979329415655f),
                     0.00025361074907033f)),
        P_start(fmaf(0.21096734870196546f, 1.0f / sqrtf(P_a - 1.9738116413999942f),
                     0.9420173407788753f)) {}
  __device__ float P_at(float P_x) const {
    const float P_t = 1.0f + expf(fmaf(P_slope, P_shape - P_x, -P_start));
    return 1.0f / (P_t * P_t);
  }
  __device__ float P_inverse(float P_y) const {
    const float P_t = P_start + logf(1.0f / sqrtf(P_y) - 1.0f);
    return fmaf(-P_t, 1.0f / P_slope, P_shape);
  }
};
// Rejection from that estimate, in float. If a machine's functions round differently, about one
// number in five thousand differs for a mean near 4000.
template <class P_State>
__device__ inline unsigned P_poisson_by_rejection(P_State* P_state, float P_mean) {
  const P_GammaEstimate P_gamma(P_mean);
  const float P_log_mean = logf(P_mean);
  for (;;) {
    const float P_k = floorf(P_gamma.P_inverse(P_random::P_uniform(P_state)));
    const float P_height = (P_gamma.P_at(P_k + 1.0f) - P_gamma.P_at(P_k)) * 1.3f;
    const float P_z = P_random::P_uniform(P_state) * P_height;
    const float P_log_of_factorial = float(lgamma(1.0 + P_k));
    if (P_z < expf(fmaf(P_k, P_log_mean, -P_mean) - P_log_of_factorial) && P_height >= 1e-20f) {
      return unsigned(P_k);
    }
  }
}

template <class P_State>
__device__ inline unsigned P_poisson(P_State* P_state, double P_mean) {
  if (P_mean < 64) return P_random::P_poisson_by_product(P_state, float(P_mean));
  if (P_mean > 4000)
    return P_rounded_normal(P_random::P_normal<double>(P_state), P_mean, sqrt(P_mean));
  return P_random::P_poisson_by_rejection(P_state, float(P_mean));
}

// The number is never 1.
__device__ inline double P_below_one(unsigned P_x) { return P_wide_middle(P_x); }
__device__ inline double P_below_one(unsigned long long P_x) {
  return fma(double(P_x >> 11), 1.1102230246251565e-16, 2.7755575615628914e-17);
}
// Sum probabilities, starting from at most exp(-500) at a time: Fishman, "Discrete-event
// simulation" (2001).
__device__ inline unsigned P_poisson_by_sum(double P_u, double P_mean) {
  double P_term = 1.0, P_sum = 1.0;
  unsigned P_k = 0;
  double P_done = 0.0;
  do {
    const double P_factor = exp(P_mean > P_done + 500.0 ? -500.0 : P_done - P_mean);
    P_term *= P_factor;
    P_sum *= P_factor;
    P_done += 500.0;
    while (P_u > P_sum) {
      ++P_k;
      P_term *= P_mean / P_k;
      const double P_next = P_sum + P_term;
      if (P_next == P_sum && P_k > P_mean) return P_k;  // the limit of double precision
      P_sum = P_next;
    }
  } while (P_done < P_mean);
  return P_k;
}
template <class P_Word>
__device__ inline unsigned P_poisson_of(P_Word P_x, double P_mean) {
  if (P_mean < 1000) return P_poisson_by_sum(P_below_one(P_x), P_mean);
  return P_rounded_normal(P_normal_double_of(P_x), P_mean, sqrt(P_mean));
}

// Square histogram method of Marsaglia, Tsang and Wang, "Fast generation of discrete random
// variables", Journal of Statistical Software 11 (2004).
template <class P_Word>
__device__ inline unsigned P_by_histogram(P_Word P_x, const curandDistributionM2Shift_st* P_table) {
  const double P_u = P_uniform_double_of(P_x);
  const unsigned P_column = unsigned(P_table->length * P_u), P_last = P_table->length - 1;
  const unsigned P_j = P_column < P_last ? P_column : P_last;  // u may be 1
  return P_table->shift + (P_u < P_table->histogram->V[P_j] ? P_j : P_table->histogram->K[P_j]);
}

}  // namespace P_random
}  // namespace PyGPU
}
