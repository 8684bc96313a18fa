// CUDA's floating-point intrinsics: arithmetic with a rounding mode, fast functions, conversions,
// bits.
//
// Conversions to integers saturate if the value is out of range. NaN converts to 0, or to the
// highest bit alone if the integer has 64 bits or the number is a double, as PTX specifies.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstring>

namespace PyGPU {
namespace host {

template <class To, class From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "another size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Convert a number to Integer, rounding towards zero and saturating.
template <class Integer, class Real>
inline Integer whole(Real x) {
  constexpr bool is_signed = Integer(-1) < Integer(0);
  constexpr int bits = int(sizeof(Integer) * 8) - is_signed;
  constexpr Integer most = Integer(Integer(~static_cast<unsigned long long>(0) >> (64 - bits)));
  constexpr Integer least = is_signed ? Integer(-most - 1) : Integer(0);
  const Real end = Real(1ull << (bits - 1)) * 2;  // most + 1, exactly representable
  if (!(x == x))
    return sizeof(Integer) == 8 || sizeof(Real) == 8 ? Integer(1ull << (8 * sizeof(Integer) - 1))
                                                     : 0;
  if (x >= end) return most;
  if (x < (is_signed ? -end : Real(0))) return least;
  return Integer(x);
}

// Set the processor's rounding direction while this object exists.
//
// in(in(x) + in(y)) is computed with this rounding: the volatile copies keep the operation between
// the two calls that change the mode. Other computations must stay outside, so functions that use
// this class are not inlined.
template <int direction>
class Rounding {
 public:
  Rounding() { std::fesetround(direction); }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;
  template <class T>
  T operator()(T x) const {
    volatile T kept = x;
    return kept;
  }

 private:
  int before_ = std::fegetround();
};
using Rounding_rz = Rounding<FE_TOWARDZERO>;
using Rounding_ru = Rounding<FE_UPWARD>;
using Rounding_rd = Rounding<FE_DOWNWARD>;
struct Rounding_rn {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};

}  // namespace host
}  // namespace PyGPU

#define PYGPU_ROUNDINGS(make) make(rn) make(rz) make(ru) make(rd)
#define PYGPU_CALLED_rn inline
#define PYGPU_CALLED_rz __attribute__((noinline)) inline
#define PYGPU_CALLED_ru __attribute__((noinline)) inline
#define PYGPU_CALLED_rd __attribute__((noinline)) inline
#define PYGPU_ROUNDED(r, T, name, parameters, value) \
  PYGPU_CALLED_##r T name##_##r parameters {         \
    const PyGPU::host::Rounding_##r in;              \
    return in(value);                                \
  }
#define PYGPU_ARITHMETIC_OF(T, type, r)                         \
  PYGPU_ROUNDED(r, T, __##type##add, (T x, T y), in(x) + in(y)) \
  PYGPU_ROUNDED(r, T, __##type##sub, (T x, T y), in(x)-in(y))   \
  PYGPU_ROUNDED(r, T, __##type##mul, (T x, T y), in(x)*in(y))   \
  PYGPU_ROUNDED(r, T, __##type##div, (T x, T y), in(x) / in(y)) \
  PYGPU_ROUNDED(r, T, __##type##rcp, (T x), T(1) / in(x))       \
  PYGPU_ROUNDED(r, T, __##type##sqrt, (T x), std::sqrt(in(x)))
#define PYGPU_FMA(T, name, r) \
  PYGPU_ROUNDED(r, T, name, (T x, T y, T z), std::fma(in(x), in(y), in(z)))
// Zero needs no rounding, and the compiler's conversion steps from unsigned integers may yield -0.
#define PYGPU_TO_REAL(T, name, from, r) PYGPU_ROUNDED(r, T, name, (from x), x ? T(in(x)) : T(0))
#define PYGPU_ARITHMETIC(r)                                         \
  PYGPU_ARITHMETIC_OF(float, f, r)                                  \
  PYGPU_ARITHMETIC_OF(double, d, r)                                 \
  PYGPU_FMA(float, __fmaf, r)                                       \
  PYGPU_FMA(float, __fmaf_ieee, r)                                  \
  PYGPU_FMA(double, __fma, r)                                       \
  PYGPU_TO_REAL(float, __int2float, int, r)                         \
  PYGPU_TO_REAL(float, __uint2float, unsigned, r)                   \
  PYGPU_TO_REAL(float, __ll2float, long long, r)                    \
  PYGPU_TO_REAL(float, __ull2float, unsigned long long, r)          \
  PYGPU_ROUNDED(r, float, __double2float, (double x), float(in(x))) \
  PYGPU_TO_REAL(double, __ll2double, long long, r)                  \
  PYGPU_TO_REAL(double, __ull2double, unsigned long long, r)
PYGPU_ROUNDINGS(PYGPU_ARITHMETIC)
#undef PYGPU_ARITHMETIC
#undef PYGPU_TO_REAL
#undef PYGPU_FMA
#undef PYGPU_ARITHMETIC_OF
#undef PYGPU_ROUNDED
#undef PYGPU_CALLED_rn
#undef PYGPU_CALLED_rz
#undef PYGPU_CALLED_ru
#undef PYGPU_CALLED_rd
#undef PYGPU_ROUNDINGS
inline float __frsqrt_rn(float x) { return float(1.0 / std::sqrt(double(x))); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }

#define PYGPU_TO_INTEGER(r, round)                                                               \
  inline int __float2int_##r(float x) { return PyGPU::host::whole<int>(round(x)); }              \
  inline unsigned __float2uint_##r(float x) { return PyGPU::host::whole<unsigned>(round(x)); }   \
  inline long long __float2ll_##r(float x) { return PyGPU::host::whole<long long>(round(x)); }   \
  inline unsigned long long __float2ull_##r(float x) {                                           \
    return PyGPU::host::whole<unsigned long long>(round(x));                                     \
  }                                                                                              \
  inline int __double2int_##r(double x) { return PyGPU::host::whole<int>(round(x)); }            \
  inline unsigned __double2uint_##r(double x) { return PyGPU::host::whole<unsigned>(round(x)); } \
  inline long long __double2ll_##r(double x) { return PyGPU::host::whole<long long>(round(x)); } \
  inline unsigned long long __double2ull_##r(double x) {                                         \
    return PyGPU::host::whole<unsigned long long>(round(x));                                     \
  }
PYGPU_TO_INTEGER(rn, std::nearbyint)
PYGPU_TO_INTEGER(rz, std::trunc)
PYGPU_TO_INTEGER(ru, std::ceil)
PYGPU_TO_INTEGER(rd, std::floor)
#undef PYGPU_TO_INTEGER

inline int __float_as_int(float x) { return PyGPU::host::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return PyGPU::host::bits<unsigned>(x); }
inline float __int_as_float(int x) { return PyGPU::host::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return PyGPU::host::bits<float>(x); }
inline long long __double_as_longlong(double x) { return PyGPU::host::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return PyGPU::host::bits<double>(x); }
inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return int(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return PyGPU::host::bits<double>(static_cast<unsigned long long>(unsigned(high)) << 32 |
                                   unsigned(low));
}

inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return float(std::pow(10.0, double(x))); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __tanhf(float x) { return std::tanh(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
