// Numbers of 16 bits, __half, and pairs of them, __half2, with CUDA's operators and functions.
//
// Each operation is computed in float and rounded once, which gives the nearest half.
#pragma once

#include <cmath>
#include <type_traits>

#include "intrinsics.h"
#include "vector_types.h"

namespace PyGPU {
namespace host {

// Conversions in arithmetic of which compilers make vectors; of _Float16's they often do not.
inline float half_to_float(unsigned short h) {
  const unsigned size = h & 0x7fffu, sign = (h & 0x8000u) << 16;
  const unsigned small = bits<unsigned>(float(int(size)) * 5.9604644775390625e-8f);  // 2^-24
  const unsigned usual = (size << 13) + (size < 0x7c00u ? 112u << 23 : 224u << 23);
  const unsigned quiet = size > 0x7c00u ? 0x400000u : 0;  // a signalling NaN does not stay so
  return bits<float>(sign | quiet | (size < 0x400u ? small : usual));
}
inline unsigned short float_to_half(float x) {
  const unsigned word = bits<unsigned>(x), sign = word >> 16 & 0x8000u, size = word & 0x7fffffffu;
  const unsigned usual = (size + 0xfffu + (size >> 13 & 1) - 0x38000000u) >> 13;
  // Below 2^-14, multiples of 2^-24: as such a sum with 1/2 is rounded.
  const unsigned small = bits<unsigned>(bits<float>(size) + 0.5f) - 0x3f000000u;
  const unsigned finite = size < 0x38800000u ? small : usual;
  const unsigned number = size < 0x477ff000u ? finite : 0x7c00u;
  const unsigned result = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x3ffu) : number;
  return static_cast<unsigned short>(sign | result);
}
// Rows of them, for PyGPU's own kernels. Processors that convert many at once are asked to, which
// compilers do not by themselves.
#define PYGPU_HALF_ROWS
#if defined __AVX512F__ && PYGPU_LIBMVEC_BYTES == 64
typedef short Halves __attribute__((vector_size(32)));
typedef float Floats __attribute__((vector_size(64)));
inline Floats widened(Halves x) { return __builtin_ia32_vcvtph2ps512_mask(x, Floats{}, -1, 4); }
inline Halves narrowed(Floats x) { return __builtin_ia32_vcvtps2ph512_mask(x, 0, Halves{}, -1); }
#elif defined __F16C__
typedef short Halves __attribute__((vector_size(16)));
typedef float Floats __attribute__((vector_size(32)));
inline Floats widened(Halves x) { return __builtin_ia32_vcvtph2ps256(x); }
inline Halves narrowed(Floats x) { return __builtin_ia32_vcvtps2ph256(x, 0); }
#endif
inline void P_widen(float* to, const void* from, long long count) {
  const auto* const halves = static_cast<const unsigned short*>(from);
  long long i = 0;
#ifdef __F16C__
  constexpr long long many = sizeof(Halves) / sizeof(short);
  for (; i + many <= count; i += many) {
    Halves some;
    __builtin_memcpy(&some, halves + i, sizeof some);
    const Floats made = widened(some);
    __builtin_memcpy(to + i, &made, sizeof made);
  }
#endif
  for (; i < count; ++i) to[i] = half_to_float(halves[i]);
}
inline void P_narrow(void* to, const float* from, long long count) {
  auto* const halves = static_cast<unsigned short*>(to);
  long long i = 0;
#ifdef __F16C__
  constexpr long long many = sizeof(Halves) / sizeof(short);
  for (; i + many <= count; i += many) {
    Floats some;
    __builtin_memcpy(&some, from + i, sizeof some);
    const Halves made = narrowed(some);
    __builtin_memcpy(halves + i, &made, sizeof made);
  }
#endif
  for (; i < count; ++i) halves[i] = float_to_half(from[i]);
}
// From double by way of float, rounded to odd there, so that the second rounding is still correct.
inline unsigned short double_to_half(double x) {
  const float near = float(x);
  const unsigned word = bits<unsigned>(near);
  const unsigned below = std::fabs(double(near)) > std::fabs(x) ? word - 1 : word;
  return float_to_half(double(near) < x || double(near) > x ? bits<float>(below | 1) : near);
}
// Rounded to nearest, towards zero, up and down.
inline unsigned short half_rn(float x) { return float_to_half(x); }
inline unsigned short half_rn(double x) { return double_to_half(x); }
inline unsigned short half_rz(double x) {
  const unsigned short near = double_to_half(x);
  return std::fabs(double(half_to_float(near))) > std::fabs(x) ? near - 1 : near;
}
inline unsigned short half_ru(double x) {
  const unsigned short near = double_to_half(x);
  return double(half_to_float(near)) < x ? near + (near < 0x8000u ? 1 : -1) : near;
}
inline unsigned short half_rd(double x) { return half_ru(-x) ^ 0x8000u; }

}  // namespace host
}  // namespace PyGPU

struct __half_raw {
  unsigned short x;
};
struct __half {
  __half() = default;
  constexpr __half(const __half_raw& raw) : bits_(raw.x) {}
  __half(float v) : bits_(PyGPU::host::float_to_half(v)) {}
  __half(double v) : bits_(PyGPU::host::double_to_half(v)) {}
  template <class Integer, typename std::enable_if<std::is_integral<Integer>::value ||
                                                       (std::is_enum<Integer>::value &&
                                                        std::is_convertible<Integer, int>::value),
                                                   int>::type = 0>
  __half(Integer v) : bits_(PyGPU::host::double_to_half(double(v))) {}

  operator float() const { return PyGPU::host::half_to_float(bits_); }
  constexpr operator __half_raw() const { return {bits_}; }
  operator bool() const { return (bits_ & 0x7fffu) != 0; }
#define PYGPU_HALF_TO(Integer) \
  operator Integer() const { return PyGPU::host::whole<Integer>(float(*this)); }
  PYGPU_HALF_TO(char)
  PYGPU_HALF_TO(signed char)
  PYGPU_HALF_TO(unsigned char)
  PYGPU_HALF_TO(short)
  PYGPU_HALF_TO(unsigned short)
  PYGPU_HALF_TO(int)
  PYGPU_HALF_TO(unsigned)
  PYGPU_HALF_TO(long)
  PYGPU_HALF_TO(unsigned long)
  PYGPU_HALF_TO(long long)
  PYGPU_HALF_TO(unsigned long long)
#undef PYGPU_HALF_TO

  // As volatile, for warp-synchronous kernels.
  operator __half_raw() const volatile { return {bits_}; }
  void operator=(const __half_raw& raw) volatile { bits_ = raw.x; }

 private:
  unsigned short bits_;
};
using __nv_half = __half;
using __nv_half_raw = __half_raw;

struct alignas(4) __half2_raw {
  unsigned short x, y;
};
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  constexpr __half2(const __half& low, const __half& high) : x(low), y(high) {}
  constexpr __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  operator __half2_raw() const { return {__half_raw(x).x, __half_raw(y).x}; }
};
using __nv_half2 = __half2;
using __nv_half2_raw = __half2_raw;

inline __half __ushort_as_half(unsigned short bits) { return __half(__half_raw{bits}); }
inline unsigned short __half_as_ushort(__half h) { return __half_raw(h).x; }
inline __half __short_as_half(short bits) {
  return __ushort_as_half(static_cast<unsigned short>(bits));
}
inline short __half_as_short(__half h) { return static_cast<short>(__half_as_ushort(h)); }

inline float __half2float(__half h) { return float(h); }
inline __half __float2half(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline __half2 make_half2(__half x, __half y) { return __half2(x, y); }
inline __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
inline __half2 __half2half2(__half h) { return __half2(h, h); }
inline __half2 __float2half2_rn(float x) { return __half2(x, x); }
inline __half2 __floats2half2_rn(float x, float y) { return __half2(x, y); }
inline __half2 __float22half2_rn(float2 v) { return __half2(v.x, v.y); }
inline float2 __half22float2(__half2 h) { return make_float2(float(h.x), float(h.y)); }
inline __half __low2half(__half2 h) { return h.x; }
inline __half __high2half(__half2 h) { return h.y; }
inline float __low2float(__half2 h) { return float(h.x); }
inline float __high2float(__half2 h) { return float(h.y); }
inline __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
inline __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
inline __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }
inline __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
inline __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }

#define PYGPU_HALF_OF(name, type, r)                           \
  inline __half __##name##2half_##r(type x) {                  \
    return __ushort_as_half(PyGPU::host::half_##r(double(x))); \
  }
#define PYGPU_HALF_CONVERSIONS(r)                                                                \
  inline __half __float2half_##r(float x) { return __ushort_as_half(PyGPU::host::half_##r(x)); } \
  PYGPU_HALF_OF(int, int, r)                                                                     \
  PYGPU_HALF_OF(uint, unsigned, r)                                                               \
  PYGPU_HALF_OF(short, short, r)                                                                 \
  PYGPU_HALF_OF(ushort, unsigned short, r)                                                       \
  PYGPU_HALF_OF(ll, long long, r)                                                                \
  PYGPU_HALF_OF(ull, unsigned long long, r)                                                      \
  inline int __half2int_##r(__half h) { return __float2int_##r(float(h)); }                      \
  inline unsigned __half2uint_##r(__half h) { return __float2uint_##r(float(h)); }               \
  inline long long __half2ll_##r(__half h) { return __float2ll_##r(float(h)); }                  \
  inline unsigned long long __half2ull_##r(__half h) { return __float2ull_##r(float(h)); }       \
  inline short __half2short_##r(__half h) {                                                      \
    return PyGPU::host::whole<short>(float(__half2int_##r(h)));                                  \
  }                                                                                              \
  inline unsigned short __half2ushort_##r(__half h) {                                            \
    return PyGPU::host::whole<unsigned short>(float(__half2uint_##r(h)));                        \
  }
PYGPU_HALF_CONVERSIONS(rn)
PYGPU_HALF_CONVERSIONS(rz)
PYGPU_HALF_CONVERSIONS(ru)
PYGPU_HALF_CONVERSIONS(rd)
#undef PYGPU_HALF_CONVERSIONS
#undef PYGPU_HALF_OF

inline signed char __half2char_rz(__half h) { return static_cast<signed char>(h); }
inline unsigned char __half2uchar_rz(__half h) { return static_cast<unsigned char>(h); }

#include "half_functions.h"
