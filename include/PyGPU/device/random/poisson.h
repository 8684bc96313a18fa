// Poisson and discrete numbers of cuRAND's generators, by the methods that cuRAND chooses: their
// constants decide which numbers come.
#pragma once

#include "normal.h"

extern "C++" {
namespace PyGPU {
namespace random {

// To the nearest; what is below 0, and NaN, become 0, as a GPU converts.
__device__ inline unsigned rounded(double x) {
  x += 0.5;
  return !(x >= 1.0) ? 0u : x < 4294967295.0 ? unsigned(x) : 4294967295u;
}
__device__ inline unsigned rounded_normal(double z, double mean, double stddev) {
  return rounded(fma(stddev, z, mean));
}

// Knuth, "The Art of Computer Programming", volume 2: uniform numbers are multiplied until their
// product falls below exp(-mean).
template <class State>
__device__ inline unsigned poisson_by_product(State* state, float mean) {
  unsigned count = 0;
  for (float product = expf(mean) * random::uniform(state); product > 1.0f;
       product *= random::uniform(state)) {
    ++count;
  }
  return count;
}

// The distribution of a gamma variable of shape a, about: 1 / (1 + exp(t))^2 with t linear in x.
struct GammaEstimate {
  float shape, slope, start;
  __device__ explicit GammaEstimate(float a)
      : shape(a),
        slope(fmaf(1.4324803507554091f, 1.0f / sqrtf(a - 0.12400979329415655f),
                   0.00025361074907033f)),
        start(fmaf(0.21096734870196546f, 1.0f / sqrtf(a - 1.9738116413999942f),
                   0.9420173407788753f)) {}
  __device__ float at(float x) const {
    const float t = 1.0f + expf(fmaf(slope, shape - x, -start));
    return 1.0f / (t * t);
  }
  __device__ float inverse(float y) const {
    const float t = start + logf(1.0f / sqrtf(y) - 1.0f);
    return fmaf(-t, 1.0f / slope, shape);
  }
};
// By rejection from that estimate. In float, so about one number in five thousand of a mean near
// 4000 is another where a machine's functions round otherwise.
template <class State>
__device__ inline unsigned poisson_by_rejection(State* state, float mean) {
  const GammaEstimate gamma(mean);
  const float log_mean = logf(mean);
  for (;;) {
    const float k = floorf(gamma.inverse(random::uniform(state)));
    const float height = (gamma.at(k + 1.0f) - gamma.at(k)) * 1.3f;
    const float z = random::uniform(state) * height;
    const float log_of_factorial = float(lgamma(1.0 + k));
    if (z < expf(fmaf(k, log_mean, -mean) - log_of_factorial) && height >= 1e-20f) {
      return unsigned(k);
    }
  }
}

template <class State>
__device__ inline unsigned poisson(State* state, double mean) {
  if (mean < 64) return random::poisson_by_product(state, float(mean));
  if (mean > 4000) return rounded_normal(random::normal<double>(state), mean, sqrt(mean));
  return random::poisson_by_rejection(state, float(mean));
}

// Never 1.
__device__ inline double below_one(unsigned x) { return wide_middle(x); }
__device__ inline double below_one(unsigned long long x) {
  return fma(double(x >> 11), 1.1102230246251565e-16, 2.7755575615628914e-17);
}
// By summing up probabilities, from at most exp(-500) at a time: Fishman, "Discrete-event
// simulation" (2001).
__device__ inline unsigned poisson_by_sum(double u, double mean) {
  double term = 1.0, sum = 1.0;
  unsigned k = 0;
  double done = 0.0;
  do {
    const double factor = exp(mean > done + 500.0 ? -500.0 : done - mean);
    term *= factor;
    sum *= factor;
    done += 500.0;
    while (u > sum) {
      ++k;
      term *= mean / k;
      const double next = sum + term;
      if (next == sum && k > mean) return k;  // all that double can tell
      sum = next;
    }
  } while (done < mean);
  return k;
}
template <class Word>
__device__ inline unsigned poisson_of(Word x, double mean) {
  if (mean < 1000) return poisson_by_sum(below_one(x), mean);
  return rounded_normal(normal_double_of(x), mean, sqrt(mean));
}

// The square histogram of Marsaglia, Tsang and Wang, "Fast generation of discrete random
// variables", Journal of Statistical Software 11 (2004).
template <class Word>
__device__ inline unsigned by_histogram(Word x, const curandDistributionM2Shift_st* table) {
  const double u = uniform_double_of(x);
  const unsigned column = unsigned(table->length * u), last = table->length - 1;
  const unsigned j = column < last ? column : last;  // u may be 1
  return table->shift + (u < table->histogram->V[j] ? j : table->histogram->K[j]);
}

}  // namespace random
}  // namespace PyGPU
}
