// CUDA's mathematical functions that the C++ library lacks, for float and double.
#pragma once

#include <math.h>  // declares C++'s overloads in the global namespace, as kernels call them
#include <stdlib.h>

#include <type_traits>

namespace PyGPU {
namespace host {

constexpr double pi = 3.14159265358979323846;

inline double sine_of_pi(double x) {
  double r = ::remainder(x, 2.0);
  if (::fabs(r) > 0.5) r = ::copysign(1.0, r) - r;
  return ::sin(pi * r);
}
inline double cosine_of_pi(double x) { return sine_of_pi(0.5 - ::fabs(::remainder(x, 2.0))); }

// Compute exp(x^2) erfc(x), by Laplace's continued fraction for large x.
inline double scaled_erfc(double x) {
  if (x < 2.0) return ::exp(x * x) * ::erfc(x);
  double tail = x;
  for (int k = 80; k > 0; --k) tail = x + 0.5 * k / tail;
  return 1.0 / (::sqrt(pi) * tail);
}

// Compute the inverse of erfc by Halley's method from Winitzki's estimate (2008).
inline double inverse_erfc(double y) {
  if (!(y > 0.0 && y < 2.0)) return y == 0.0 ? HUGE_VAL : y == 2.0 ? -HUGE_VAL : ::nan("");
  const double a = 0.147, l = ::log(y * (2.0 - y)), t = 2.0 / (pi * a) + l / 2.0;
  double z = ::sqrt(::sqrt(t * t - l / a) - t);
  if (y > 1.0) z = -z;
  if (!(z == z)) z = 0.0;
  for (int step = 0; step < 4; ++step) {
    const double u = (::erfc(z) - y) * ::exp(z * z) * (-::sqrt(pi) / 2.0);
    z -= u / (1.0 + z * u);
  }
  return z;
}
inline double inverse_erf(double x) {
  if (!(::fabs(x) < 0.5)) return x < 0.0 ? -inverse_erfc(1.0 + x) : inverse_erfc(1.0 - x);
  double z = x * ::sqrt(pi) / 2.0;
  for (int step = 0; step < 4; ++step) {
    const double u = (::erf(z) - x) * ::exp(z * z) * (::sqrt(pi) / 2.0);
    z -= u / (1.0 + z * u);
  }
  return z;
}

// Compute the modified Bessel function of the first kind of order 0 or 1: by its power series, and
// for large arguments by its asymptotic series (Abramowitz & Stegun 9.6.10, 9.7.1).
inline double bessel_i(int order, double x) {
  const double a = ::fabs(x);
  double term = 1.0, sum = 1.0;
  if (a <= 30.0) {
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= a * a / (4.0 * k * (k + order));
    return order ? sum * x / 2.0 : sum;
  }
  const double mu = 4.0 * order * order;
  for (int k = 1; ::fabs(term) > 1e-17 * sum && k < 60; ++k)
    sum += term *= ((2 * k - 1.0) * (2 * k - 1.0) - mu) / (8.0 * k * a);
  const double half = ::exp(a / 2.0);
  return ::copysign(1.0, order ? x : 1.0) * (half * (sum / ::sqrt(2.0 * pi * a)) * half);
}

template <class T, class Result>
using IfInteger = typename std::enable_if<std::is_integral<T>::value, Result>::type;

template <class T, class U>
using Mixed =
    typename std::enable_if<std::is_arithmetic<T>::value && std::is_arithmetic<U>::value &&
                                !std::is_same<T, U>::value,
                            typename std::common_type<T, U>::type>::type;

}  // namespace host
}  // namespace PyGPU

// Define name(double), namef(float), name(float) and name(integer), each computed in double. The
// first two have C linkage and noexcept, because newer C libraries declare some of them so.
#define PYGPU_OF_INTEGERS(name)                        \
  template <class T>                                   \
  inline PyGPU::host::IfInteger<T, double> name(T x) { \
    return name(double(x));                            \
  }
#define PYGPU_MATH1(name, expression)                                     \
  extern "C" inline double name(double x) noexcept { return expression; } \
  extern "C" inline float name##f(float value) noexcept {                 \
    const double x = value;                                               \
    return float(expression);                                             \
  }                                                                       \
  inline float name(float x) noexcept { return name##f(x); }              \
  PYGPU_OF_INTEGERS(name)
PYGPU_MATH1(sinpi, PyGPU::host::sine_of_pi(x))
PYGPU_MATH1(cospi, PyGPU::host::cosine_of_pi(x))
PYGPU_MATH1(rcbrt, 1.0 / ::cbrt(x))
PYGPU_MATH1(erfinv, PyGPU::host::inverse_erf(x))
PYGPU_MATH1(erfcinv, PyGPU::host::inverse_erfc(x))
PYGPU_MATH1(erfcx, PyGPU::host::scaled_erfc(x))
PYGPU_MATH1(normcdf, 0.5 * ::erfc(-x * ::sqrt(0.5)))
PYGPU_MATH1(normcdfinv, -::sqrt(2.0) * PyGPU::host::inverse_erfc(2.0 * x))
PYGPU_MATH1(cyl_bessel_i0, PyGPU::host::bessel_i(0, x))
PYGPU_MATH1(cyl_bessel_i1, PyGPU::host::bessel_i(1, x))
#undef PYGPU_MATH1

extern "C" {
inline double rsqrt(double x) noexcept { return 1.0 / ::sqrt(x); }
inline float rsqrtf(float x) noexcept { return 1.0f / ::sqrtf(x); }
}
inline float rsqrt(float x) noexcept { return rsqrtf(x); }
inline float exp10(float x) noexcept { return ::exp10f(x); }
PYGPU_OF_INTEGERS(rsqrt)
PYGPU_OF_INTEGERS(exp10)
#undef PYGPU_OF_INTEGERS
inline void sincos(float x, float* sine, float* cosine) { ::sincosf(x, sine, cosine); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospi(float x, float* sine, float* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) { sincospi(x, sine, cosine); }

inline float j0(float x) { return ::j0f(x); }
inline float j1(float x) { return ::j1f(x); }
inline float jn(int n, float x) { return ::jnf(n, x); }
inline float y0(float x) { return ::y0f(x); }
inline float y1(float x) { return ::y1f(x); }
inline float yn(int n, float x) { return ::ynf(n, x); }

// Euclidean norms without intermediate overflow.
#define PYGPU_NORMS(T, f)                                                                  \
  inline T norm3d##f(T a, T b, T c) { return ::hypot(::hypot(a, b), c); }                  \
  inline T norm4d##f(T a, T b, T c, T d) { return ::hypot(::hypot(a, b), ::hypot(c, d)); } \
  inline T rhypot##f(T a, T b) { return 1 / ::hypot(a, b); }                               \
  inline T rnorm3d##f(T a, T b, T c) { return 1 / norm3d##f(a, b, c); }                    \
  inline T rnorm4d##f(T a, T b, T c, T d) { return 1 / norm4d##f(a, b, c, d); }            \
  inline T norm##f(int n, const T* v) {                                                    \
    T length = 0;                                                                          \
    for (int i = 0; i < n; ++i) length = ::hypot(length, v[i]);                            \
    return length;                                                                         \
  }                                                                                        \
  inline T rnorm##f(int n, const T* v) { return 1 / norm##f(n, v); }
PYGPU_NORMS(double, )
PYGPU_NORMS(float, f)
#undef PYGPU_NORMS

// min and max of equal types are not templates, so that overload resolution prefers them to std's
// if both are visible.
#define PYGPU_MIN_MAX(T)                              \
  constexpr T min(T a, T b) { return b < a ? b : a; } \
  constexpr T max(T a, T b) { return a < b ? b : a; }
PYGPU_MIN_MAX(int)
PYGPU_MIN_MAX(unsigned)
PYGPU_MIN_MAX(long)
PYGPU_MIN_MAX(unsigned long)
PYGPU_MIN_MAX(long long)
PYGPU_MIN_MAX(unsigned long long)
#undef PYGPU_MIN_MAX
#define PYGPU_MIN_MAX(T) /* a NaN loses, as in fmin and fmax */    \
  constexpr T min(T a, T b) { return a < b || !(b == b) ? a : b; } \
  constexpr T max(T a, T b) { return a > b || !(b == b) ? a : b; }
PYGPU_MIN_MAX(float)
PYGPU_MIN_MAX(double)
#undef PYGPU_MIN_MAX
template <class T, class U>
constexpr PyGPU::host::Mixed<T, U> min(T a, U b) {
  using Common = PyGPU::host::Mixed<T, U>;
  return min(Common(a), Common(b));
}
template <class T, class U>
constexpr PyGPU::host::Mixed<T, U> max(T a, U b) {
  using Common = PyGPU::host::Mixed<T, U>;
  return max(Common(a), Common(b));
}
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
