// CUDA's floating-point intrinsics: arithmetic with a rounding, fast functions, conversions, bits.
//
// Arithmetic is rounded to nearest, whatever the suffix says. Conversions to integers round as
// their suffix says, saturate where the value is out of range, and give 0 for a NaN.
#pragma once

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

// A value without a fraction as an Integer, saturated.
template <class Integer, class Real>
inline Integer whole(Real x) {
  constexpr bool is_signed = Integer(-1) < Integer(0);
  constexpr int bits = int(sizeof(Integer) * 8) - is_signed;
  constexpr Integer most = Integer(Integer(~static_cast<unsigned long long>(0) >> (64 - bits)));
  constexpr Integer least = is_signed ? Integer(-most - 1) : Integer(0);
  const Real end = Real(1ull << (bits - 1)) * 2;  // most + 1
  if (!(x == x)) return 0;
  if (x >= end) return most;
  if (x < (is_signed ? -end : Real(0))) return least;
  return Integer(x);
}

}  // namespace host
}  // namespace PyGPU

#define PYGPU_ROUNDINGS(make) make(rn) make(rz) make(ru) make(rd)
#define PYGPU_ARITHMETIC(r)                                                             \
  inline float __fadd_##r(float x, float y) { return x + y; }                           \
  inline float __fsub_##r(float x, float y) { return x - y; }                           \
  inline float __fmul_##r(float x, float y) { return x * y; }                           \
  inline float __fdiv_##r(float x, float y) { return x / y; }                           \
  inline float __frcp_##r(float x) { return 1.0f / x; }                                 \
  inline float __fsqrt_##r(float x) { return std::sqrt(x); }                            \
  inline float __fmaf_##r(float x, float y, float z) { return std::fma(x, y, z); }      \
  inline float __fmaf_ieee_##r(float x, float y, float z) { return std::fma(x, y, z); } \
  inline double __dadd_##r(double x, double y) { return x + y; }                        \
  inline double __dsub_##r(double x, double y) { return x - y; }                        \
  inline double __dmul_##r(double x, double y) { return x * y; }                        \
  inline double __ddiv_##r(double x, double y) { return x / y; }                        \
  inline double __drcp_##r(double x) { return 1.0 / x; }                                \
  inline double __dsqrt_##r(double x) { return std::sqrt(x); }                          \
  inline double __fma_##r(double x, double y, double z) { return std::fma(x, y, z); }   \
  inline float __int2float_##r(int x) { return float(x); }                              \
  inline float __uint2float_##r(unsigned x) { return float(x); }                        \
  inline float __ll2float_##r(long long x) { return float(x); }                         \
  inline float __ull2float_##r(unsigned long long x) { return float(x); }               \
  inline float __double2float_##r(double x) { return float(x); }                        \
  inline double __ll2double_##r(long long x) { return double(x); }                      \
  inline double __ull2double_##r(unsigned long long x) { return double(x); }
PYGPU_ROUNDINGS(PYGPU_ARITHMETIC)
#undef PYGPU_ARITHMETIC
#undef PYGPU_ROUNDINGS
inline float __frsqrt_rn(float x) { return 1.0f / std::sqrt(x); }
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
