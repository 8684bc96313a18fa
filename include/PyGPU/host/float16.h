// Template of a 16-bit number type, its pair type, and CUDA's functions and operators for both.
// half.h and bfloat16.h include this file with these macros defined:
//
//   PYGPU_F16, PYGPU_F16X2            the number and the pair
//   PYGPU_F16_RAW, PYGPU_F16X2_RAW    their bits
//   PYGPU_F16_NAME(before, after)     a function name with the type's name between these parts
//   PYGPU_F16_FORMAT                  the conversions: see float16_formats.h
//   PYGPU_F16_INFINITY                the bits of infinity
//   PYGPU_F16_OPERATORS, PYGPU_F16X2_OPERATORS    0 if the program defines its own operators
//
// Each operation is computed in float and rounded once, which yields the nearest number.

struct PYGPU_F16_RAW {
  unsigned short x;
};
struct PYGPU_F16 {
  PYGPU_F16() = default;
  constexpr PYGPU_F16(const PYGPU_F16_RAW& raw) : bits_(raw.x) {}
  PYGPU_F16(float v) : bits_(PYGPU_F16_FORMAT::narrow(v)) {}
  PYGPU_F16(double v) : bits_(PyGPU::host::nearest<PYGPU_F16_FORMAT>(v)) {}
  template <class Integer, typename std::enable_if<std::is_integral<Integer>::value ||
                                                       (std::is_enum<Integer>::value &&
                                                        std::is_convertible<Integer, int>::value),
                                                   int>::type = 0>
  PYGPU_F16(Integer v)
      : bits_(PyGPU::host::nearest<PYGPU_F16_FORMAT>(PyGPU::host::integer_to_odd(v))) {}

  using PyGPU_format = PYGPU_F16_FORMAT;
  template <class Other, class = typename Other::PyGPU_format>
  explicit PYGPU_F16(Other number) : PYGPU_F16(float(number)) {}

  operator float() const { return PYGPU_F16_FORMAT::widen(bits_); }
  constexpr operator PYGPU_F16_RAW() const { return {bits_}; }
  constexpr operator bool() const { return (bits_ & 0x7fffu) != 0; }
#define PYGPU_F16_TO(Integer) \
  operator Integer() const { return PyGPU::host::whole<Integer>(float(*this)); }
  PYGPU_F16_TO(char)
  PYGPU_F16_TO(signed char)
  PYGPU_F16_TO(unsigned char)
  PYGPU_F16_TO(short)
  PYGPU_F16_TO(unsigned short)
  PYGPU_F16_TO(int)
  PYGPU_F16_TO(unsigned)
  PYGPU_F16_TO(long)
  PYGPU_F16_TO(unsigned long)
  PYGPU_F16_TO(long long)
  PYGPU_F16_TO(unsigned long long)
#undef PYGPU_F16_TO

  PYGPU_F16& operator=(const PYGPU_F16_RAW& raw) {
    bits_ = raw.x;
    return *this;
  }
  // Volatile forms, for warp-synchronous kernels.
  operator PYGPU_F16_RAW() const volatile { return {bits_}; }
  // These assignments return void: g++ would warn about every statement that ignores a volatile
  // result.
  void operator=(const PYGPU_F16_RAW& raw) volatile { bits_ = raw.x; }
  void operator=(const volatile PYGPU_F16_RAW& raw) volatile { bits_ = raw.x; }

 private:
  unsigned short bits_;
};

struct alignas(4) PYGPU_F16X2_RAW {
  unsigned short x, y;
};
struct alignas(4) PYGPU_F16X2 {
  PYGPU_F16 x, y;
  PYGPU_F16X2() = default;
  constexpr PYGPU_F16X2(const PYGPU_F16& low, const PYGPU_F16& high) : x(low), y(high) {}
  constexpr PYGPU_F16X2(const PYGPU_F16X2_RAW& raw)
      : x(PYGPU_F16_RAW{raw.x}), y(PYGPU_F16_RAW{raw.y}) {}
  operator PYGPU_F16X2_RAW() const { return {PYGPU_F16_RAW(x).x, PYGPU_F16_RAW(y).x}; }
};

inline PYGPU_F16 PYGPU_F16_NAME(__ushort_as_, )(unsigned short bits) {
  return PYGPU_F16(PYGPU_F16_RAW{bits});
}
inline unsigned short PYGPU_F16_NAME(__, _as_ushort)(PYGPU_F16 h) { return PYGPU_F16_RAW(h).x; }
inline PYGPU_F16 PYGPU_F16_NAME(__short_as_, )(short bits) {
  return PYGPU_F16_NAME(__ushort_as_, )(static_cast<unsigned short>(bits));
}
inline short PYGPU_F16_NAME(__, _as_short)(PYGPU_F16 h) {
  return static_cast<short>(PYGPU_F16_NAME(__, _as_ushort)(h));
}

inline float PYGPU_F16_NAME(__, 2float)(PYGPU_F16 h) { return float(h); }
inline PYGPU_F16 PYGPU_F16_NAME(__float2, )(float x) { return PYGPU_F16(x); }
inline PYGPU_F16 PYGPU_F16_NAME(__double2, )(double x) { return PYGPU_F16(x); }
inline PYGPU_F16X2 PYGPU_F16_NAME(make_, 2)(PYGPU_F16 x, PYGPU_F16 y) { return PYGPU_F16X2(x, y); }
inline PYGPU_F16X2 PYGPU_F16_NAME(__halves2, 2)(PYGPU_F16 x, PYGPU_F16 y) {
  return PYGPU_F16X2(x, y);
}
inline PYGPU_F16X2 PYGPU_F16_NAME(__float2, 2_rn)(float x) { return PYGPU_F16X2(x, x); }
inline PYGPU_F16X2 PYGPU_F16_NAME(__floats2, 2_rn)(float x, float y) { return PYGPU_F16X2(x, y); }
inline PYGPU_F16X2 PYGPU_F16_NAME(__float22, 2_rn)(float2 v) { return PYGPU_F16X2(v.x, v.y); }
inline float2 PYGPU_F16_NAME(__, 22float2)(PYGPU_F16X2 h) {
  return make_float2(float(h.x), float(h.y));
}
inline PYGPU_F16 PYGPU_F16_NAME(__low2, )(PYGPU_F16X2 h) { return h.x; }
inline PYGPU_F16 PYGPU_F16_NAME(__high2, )(PYGPU_F16X2 h) { return h.y; }
inline float __low2float(PYGPU_F16X2 h) { return float(h.x); }
inline float __high2float(PYGPU_F16X2 h) { return float(h.y); }
inline PYGPU_F16X2 PYGPU_F16_NAME(__low2, 2)(PYGPU_F16X2 h) { return PYGPU_F16X2(h.x, h.x); }
inline PYGPU_F16X2 PYGPU_F16_NAME(__high2, 2)(PYGPU_F16X2 h) { return PYGPU_F16X2(h.y, h.y); }
inline PYGPU_F16X2 __lowhigh2highlow(PYGPU_F16X2 h) { return PYGPU_F16X2(h.y, h.x); }
inline PYGPU_F16X2 PYGPU_F16_NAME(__lows2, 2)(PYGPU_F16X2 a, PYGPU_F16X2 b) {
  return PYGPU_F16X2(a.x, b.x);
}
inline PYGPU_F16X2 PYGPU_F16_NAME(__highs2, 2)(PYGPU_F16X2 a, PYGPU_F16X2 b) {
  return PYGPU_F16X2(a.y, b.y);
}

#define PYGPU_F16_OF(name, type, r)                                         \
  inline PYGPU_F16 PYGPU_F16_NAME(__##name##2, _##r)(type x) {              \
    const double wide = PyGPU::host::integer_to_odd(x);                     \
    return PYGPU_F16_RAW{PyGPU::host::rounded_##r<PYGPU_F16_FORMAT>(wide)}; \
  }
#define PYGPU_F16_CONVERSIONS(r)                                                                 \
  inline PYGPU_F16 PYGPU_F16_NAME(__float2, _##r)(float x) {                                     \
    return PYGPU_F16_RAW{PyGPU::host::rounded_##r<PYGPU_F16_FORMAT>(x)};                         \
  }                                                                                              \
  PYGPU_F16_OF(int, int, r)                                                                      \
  PYGPU_F16_OF(uint, unsigned, r)                                                                \
  PYGPU_F16_OF(short, short, r)                                                                  \
  PYGPU_F16_OF(ushort, unsigned short, r)                                                        \
  PYGPU_F16_OF(ll, long long, r)                                                                 \
  PYGPU_F16_OF(ull, unsigned long long, r)                                                       \
  inline int PYGPU_F16_NAME(__, 2int_##r)(PYGPU_F16 h) { return __float2int_##r(float(h)); }     \
  inline unsigned PYGPU_F16_NAME(__, 2uint_##r)(PYGPU_F16 h) {                                   \
    return __float2uint_##r(float(h));                                                           \
  }                                                                                              \
  inline long long PYGPU_F16_NAME(__, 2ll_##r)(PYGPU_F16 h) { return __float2ll_##r(float(h)); } \
  inline unsigned long long PYGPU_F16_NAME(__, 2ull_##r)(PYGPU_F16 h) {                          \
    return __float2ull_##r(float(h));                                                            \
  }                                                                                              \
  inline short PYGPU_F16_NAME(__, 2short_##r)(PYGPU_F16 h) {                                     \
    return PyGPU::host::whole<short>(float(PYGPU_F16_NAME(__, 2int_##r)(h)));                    \
  }                                                                                              \
  inline unsigned short PYGPU_F16_NAME(__, 2ushort_##r)(PYGPU_F16 h) {                           \
    return PyGPU::host::whole<unsigned short>(float(PYGPU_F16_NAME(__, 2uint_##r)(h)));          \
  }
PYGPU_F16_CONVERSIONS(rn)
PYGPU_F16_CONVERSIONS(rz)
PYGPU_F16_CONVERSIONS(ru)
PYGPU_F16_CONVERSIONS(rd)
#undef PYGPU_F16_CONVERSIONS
#undef PYGPU_F16_OF

inline signed char PYGPU_F16_NAME(__, 2char_rz)(PYGPU_F16 h) { return static_cast<signed char>(h); }
inline unsigned char PYGPU_F16_NAME(__, 2uchar_rz)(PYGPU_F16 h) {
  return static_cast<unsigned char>(h);
}

#include "float16_functions.h"

#undef PYGPU_F16
#undef PYGPU_F16X2
#undef PYGPU_F16_RAW
#undef PYGPU_F16X2_RAW
#undef PYGPU_F16_NAME
#undef PYGPU_F16_FORMAT
#undef PYGPU_F16_INFINITY
#undef PYGPU_F16_OPERATORS
#undef PYGPU_F16X2_OPERATORS
