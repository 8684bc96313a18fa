"""Device functions of random numbers, as text: Philox4x32-10, its conversions, normal and Poisson
distributions."""

PHILOX = """
#include <PyGPU/device/random/philox_rounds.h>
using PyGPU::P_random::P_philox4x32_10;
__device__ inline unsigned long long P_join(unsigned low, unsigned high) {
  return (unsigned long long)high << 32 | low;
}
"""

# `closed` is 1 for (0, 1] and 0 for [0, 1). Multiples of a power of two that fit the type: exact,
# so the same on every machine.
UNIFORM = """
#include <PyGPU/device/random/middle.h>
using PyGPU::P_random::P_middle;
__device__ inline float P_float11(unsigned x, unsigned closed) {
  return float((x >> 21) + closed) * 4.8828125e-4f;
}
__device__ inline float P_float(unsigned x, unsigned closed) {
  return float((x >> 8) + closed) * 5.9604644775390625e-8f;
}
__device__ inline double P_double(unsigned long long x, unsigned closed) {
  return double((x >> 11) + closed) * 1.1102230246251565e-16;
}
"""

# Box and Muller (1958): a radius and an angle make two normal numbers. Each end of the unit
# interval decides much of the radius, so in float its logarithm is taken from the nearer end.
NORMAL = """
__device__ inline float2 P_normal_pair(unsigned a, unsigned b) {
  const float log_u = a >> 31 ? log1pf(-P_middle(~a)) : logf(P_middle(a));
  const float radius = sqrtf(-2.0f * log_u);
  float sine, cosine;
  sincospif(fmaf(float(int(b)), 4.6566128730773926e-10f, 2.3283064365386963e-10f), &sine, &cosine);
  return make_float2(radius * cosine, radius * sine);
}
__device__ inline double2 P_normal_pair(unsigned long long a, unsigned long long b) {
  const double radius = sqrt(-2.0 * log(P_middle(a)));
  double sine, cosine;
  sincospi(fma(double((long long)b >> 11), 2.2204460492503131e-16, 1.1102230246251565e-16), &sine,
           &cosine);
  return make_double2(radius * cosine, radius * sine);
}
"""

# Small means by inversion, one uniform number each. Others by Hoermann's transformed rejection
# ("PTRS", Insurance: Mathematics and Economics 12, 1993), the probabilities as in Loader, "Fast
# and accurate computation of binomial probabilities" (2000), which keeps digits where k log(mean)
# - lgamma(k + 1) cancels. A Source gives two uniform numbers at a time.
POISSON = """
__device__ inline double P_poisson_search(double u, double mean) {
  double term = exp(-mean), sum = term;
  int k = 0;
  while (u > sum) {
    ++k;
    term *= mean / k;
    const double next = sum + term;
    if (next == sum && k > mean) break;
    sum = next;
  }
  return k;
}
// log of mean^k exp(-mean) / k!
__device__ inline double P_poisson_log(double k, double mean) {
  if (k < 10.0) return k * log(mean) - mean - lgamma(k + 1.0);
  const double off = k - mean, v = off / (k + mean), v2 = v * v;
  double deviance = off * v, term = 2.0 * k * v;
  if (fabs(v) < 0.1) {
    #pragma unroll
    for (int j = 1; j <= 8; ++j) deviance += (term *= v2) / (2 * j + 1);
  } else {
    deviance = k * log(k / mean) - off;
  }
  const double r = 1.0 / k, r2 = r * r;
  const double stirling = r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 / 1680)));
  return -deviance - stirling - 0.5 * log(6.2831853071795865 * k);
}
template <class Source> __device__ double P_poisson(Source &source, double mean) {
  if (!(mean >= 0.0 && mean < 1e300)) return nan("");
  if (mean < 10.0) return P_poisson_search(source.next().x, mean);
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2.0);
  for (;;) {
    const double2 draw = source.next();
    const double u = draw.x - 0.5, v = draw.y, us = 0.5 - fabs(u);
    const double k = floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0.0 || (us < 0.013 && v > us)) continue;
    if (log(v * inverse_alpha / (a / (us * us) + b)) <= P_poisson_log(k, mean)) return k;
  }
}
__device__ inline void P_store(unsigned *out, double k) {
  *out = k < 4294967295.0 ? unsigned(k) : 4294967295u;
}
__device__ inline void P_store(float *out, double k) { *out = float(k); }
__device__ inline void P_store(double *out, double k) { *out = k; }
"""
