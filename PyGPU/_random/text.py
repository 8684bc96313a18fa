"""Device functions of random numbers, as text: Philox4x32-10, normal and Poisson distributions."""

PHILOX = """
#include <PyGPU/device/random/philox_rounds.h>
using PyGPU::P_random::P_philox4x32_10;
__device__ inline unsigned long long P_join(unsigned low, unsigned high) {
  return (unsigned long long)high << 32 | low;
}
"""

# `closed` is 1 for (0, 1] and 0 for [0, 1). The results are multiples of a power of two that the
# type represents exactly, so they are the same on every machine.
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

# Box and Muller (1958): a radius and an angle give two normal numbers. Both ends of the unit
# interval affect the radius strongly. So near 1, the float logarithm adds a correction for the bits
# that 1 - x loses by rounding. The arguments' ranges are known, so the root and the polynomials
# need no special cases; their errors are one or two units in the last place, as in libraries.
# The logarithm's polynomial is in f = u - 1 for u from 2/3 to 4/3. Those of sine and cosine are in
# the distance x, in half turns, to the nearest quarter turn.
# The text must follow PyGPU._kernels.helpers((NORMAL,), False), whose functions it calls.
NORMAL = """
__device__ inline float P_log_middle(unsigned a) {
  const bool is_upper = a >> 31;
  const float x = P_middle(is_upper ? ~a : a);
  const float u = is_upper ? 1.0f - x : x, lost = is_upper ? (1.0f - u) - x : 0.0f;
  const int power = (__float_as_int(u) - 0x3f2aaaab) & ~0x7fffff;
  const float f = __int_as_float(__float_as_int(u) - power) - 1.0f;
  float q = 0.134257495f;
  q = q * f - 0.150407642f;
  q = q * f + 0.141183093f;
  q = q * f - 0.164830178f;
  q = q * f + 0.200037807f;
  q = q * f - 0.250041455f;
  q = q * f + 0.333333194f;
  q = q * f - 0.499999851f;
  return float(power) * 8.26295829e-8f + (f + (f * f * q + lost * (2.0f - u)));  // 2^-23 log 2
}
__device__ inline float2 P_normal_pair(unsigned a, unsigned b) {
  const float square = -2.0f * P_log_middle(a), inverse = rsqrtf(square), near = square * inverse;
  const float radius = near + 0.5f * inverse * fmaf(-near, near, square);  // Newton's step
  const unsigned quarter = (b + 0x20000000u) >> 30;
  const float x = fmaf(float(int(b - (quarter << 30))), 4.6566128730773926e-10f,
                       2.3283064365386963e-10f);
  const float s = x * x;
  const float sine = x * 3.14159274f +
    x * (s * ((-0.591611743f * s + 2.54998493f) * s - 5.16771221f) - 8.74227766e-8f);
  const float cosine =
    1.0f + s * (((0.232125416f * s - 1.33513784f) * s + 4.05871058f) * s - 4.93480206f);
  const float x_part = radius * (quarter & 1 ? sine : cosine);
  const float y_part = radius * (quarter & 1 ? cosine : sine);
  return make_float2((quarter + 1) & 2 ? -x_part : x_part, quarter & 2 ? -y_part : y_part);
}
__device__ inline void P_sincospi(double x, double *sine, double *cosine) {
#ifdef PYGPU_LOOP_OF_ONE
  const double quarters = rint(2.0 * x), angle = 3.1415926535897932 * (x - 0.5 * quarters);
  const double s = P_sin(angle), c = P_cos(angle), a = int(quarters) & 1 ? c : s;
  *sine = int(quarters) & 2 ? -a : a;
  const double b = int(quarters) & 1 ? s : c;
  *cosine = (int(quarters) + 1) & 2 ? -b : b;
#else
  sincospi(x, sine, cosine);
#endif
}
__device__ inline double2 P_normal_pair(unsigned long long a, unsigned long long b) {
  const double radius = sqrt(-2.0 * P_log(P_middle(a)));
  double sine, cosine;
  P_sincospi(fma(double((long long)b >> 11), 2.2204460492503131e-16, 1.1102230246251565e-16),
             &sine, &cosine);
  return make_double2(radius * cosine, radius * sine);
}
"""

# Small means use inversion, with one uniform number each. Large means use Hoermann's transformed
# rejection ("PTRS", Insurance: Mathematics and Economics 12, 1993). The probabilities follow
# Loader, "Fast and accurate computation of binomial probabilities" (2000), which avoids the
# cancellation of k log(mean) - lgamma(k + 1). A Source returns two uniform numbers at a time.
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
