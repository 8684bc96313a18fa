// Arithmetic, comparisons and functions of __half and __half2. Part of half.h.
#pragma once

#include "half.h"

inline __half __hneg(__half a) {
  return __ushort_as_half(static_cast<unsigned short>(__half_as_ushort(a) ^ 0x8000u));
}
inline __half2 __hneg2(__half2 a) { return __half2(__hneg(a.x), __hneg(a.y)); }
inline bool __hisnan(__half a) { return (__half_as_ushort(a) & 0x7fffu) > 0x7c00u; }

// name(a, b) and name2(pair, pair), each from an expression in the floats x and y.
#define PYGPU_HALF2(name, name2, expression) \
  inline __half name(__half a, __half b) {   \
    const float x = a, y = b;                \
    return __half(expression);               \
  }                                          \
  inline __half2 name2(__half2 a, __half2 b) { return __half2(name(a.x, b.x), name(a.y, b.y)); }
PYGPU_HALF2(__hadd, __hadd2, x + y)
PYGPU_HALF2(__hsub, __hsub2, x - y)
PYGPU_HALF2(__hmul, __hmul2, x* y)
PYGPU_HALF2(__hdiv, __h2div, x / y)
PYGPU_HALF2(__hadd_rn, __hadd2_rn, x + y)
PYGPU_HALF2(__hsub_rn, __hsub2_rn, x - y)
PYGPU_HALF2(__hmul_rn, __hmul2_rn, x* y)
PYGPU_HALF2(__hadd_sat, __hadd2_sat, __saturatef(x + y))
PYGPU_HALF2(__hsub_sat, __hsub2_sat, __saturatef(x - y))
PYGPU_HALF2(__hmul_sat, __hmul2_sat, __saturatef(x* y))
// Of zeros +0 is the larger. A number and no number: the number, or where _nan asks for it, none.
PYGPU_HALF2(__hmin, __hmin2, y != y || x < y || (x == y && std::signbit(x)) ? x : y)
PYGPU_HALF2(__hmax, __hmax2, y != y || x > y || (x == y && !std::signbit(x)) ? x : y)
PYGPU_HALF2(__hmin_nan, __hmin2_nan, x != x ? x : y != y ? y : float(__hmin(a, b)))
PYGPU_HALF2(__hmax_nan, __hmax2_nan, x != x ? x : y != y ? y : float(__hmax(a, b)))
#undef PYGPU_HALF2

// The product of two halves is exact in double, and the sum is, except for bits far below a half's
// precision.
inline __half __hfma(__half a, __half b, __half c) {
  return __half(double(float(a)) * double(float(b)) + double(float(c)));
}
inline __half __hfma_sat(__half a, __half b, __half c) {
  return __half(__saturatef(float(__hfma(a, b, c))));
}
inline __half __hfma_relu(__half a, __half b, __half c) {
  return __hmax_nan(__hfma(a, b, c), __half(0.0f));
}
#define PYGPU_HALF_FMA2(name)                                                 \
  inline __half2 __hfma2##name(__half2 a, __half2 b, __half2 c) {             \
    return __half2(__hfma##name(a.x, b.x, c.x), __hfma##name(a.y, b.y, c.y)); \
  }
PYGPU_HALF_FMA2()
PYGPU_HALF_FMA2(_sat)
PYGPU_HALF_FMA2(_relu)
#undef PYGPU_HALF_FMA2
// a b + c of complex numbers, rounded after each of two steps.
inline __half2 __hcmadd(__half2 a, __half2 b, __half2 c) {
  const __half real = __hfma(a.x, b.x, c.x), imag = __hfma(a.x, b.y, c.y);
  return __half2(__hfma(__hneg(a.y), b.y, real), __hfma(a.y, b.x, imag));
}

// Where a number is none, tests are false, and those with a u true.
#define PYGPU_HALF_TEST2(test)                                                              \
  inline __half2 __h##test##2(__half2 a, __half2 b) {                                       \
    return __half2(__h##test(a.x, b.x) ? 1.0f : 0.0f, __h##test(a.y, b.y) ? 1.0f : 0.0f);   \
  }                                                                                         \
  inline bool __hb##test##2(__half2 a, __half2 b) {                                         \
    return __h##test(a.x, b.x) && __h##test(a.y, b.y);                                      \
  }                                                                                         \
  inline unsigned __h##test##2_mask(__half2 a, __half2 b) {                                 \
    return (__h##test(a.x, b.x) ? 0xffffu : 0u) | (__h##test(a.y, b.y) ? 0xffff0000u : 0u); \
  }
#define PYGPU_HALF_TEST(test, op)                                \
  inline bool __h##test(__half a, __half b) {                    \
    return !__hisnan(a) && !__hisnan(b) && float(a) op float(b); \
  }                                                              \
  inline bool __h##test##u(__half a, __half b) {                 \
    return __hisnan(a) || __hisnan(b) || float(a) op float(b);   \
  }                                                              \
  PYGPU_HALF_TEST2(test)                                         \
  PYGPU_HALF_TEST2(test##u)
PYGPU_HALF_TEST(eq, ==)
PYGPU_HALF_TEST(ne, !=)
PYGPU_HALF_TEST(lt, <)
PYGPU_HALF_TEST(gt, >)
PYGPU_HALF_TEST(le, <=)
PYGPU_HALF_TEST(ge, >=)
#undef PYGPU_HALF_TEST
#undef PYGPU_HALF_TEST2
inline __half2 __hisnan2(__half2 a) {
  return __half2(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
}
inline int __hisinf(__half a) {
  return __half_as_ushort(a) == 0x7c00 ? 1 : __half_as_ushort(a) == 0xfc00 ? -1 : 0;
}

// hname(a) and h2name(pair).
#define PYGPU_HALF1(name, expression) \
  inline __half h##name(__half a) {   \
    const float x = a;                \
    return __half(expression);        \
  }                                   \
  inline __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
PYGPU_HALF1(sqrt, std::sqrt(x))
PYGPU_HALF1(rsqrt, 1.0f / std::sqrt(x))
PYGPU_HALF1(rcp, 1.0f / x)
PYGPU_HALF1(exp, std::exp(x))
PYGPU_HALF1(exp2, std::exp2(x))
PYGPU_HALF1(exp10, std::pow(10.0f, x))
PYGPU_HALF1(log, std::log(x))
PYGPU_HALF1(log2, std::log2(x))
PYGPU_HALF1(log10, std::log10(x))
PYGPU_HALF1(sin, std::sin(x))
PYGPU_HALF1(cos, std::cos(x))
PYGPU_HALF1(tanh, std::tanh(x))
PYGPU_HALF1(tanh_approx, std::tanh(x))
PYGPU_HALF1(floor, std::floor(x))
PYGPU_HALF1(ceil, std::ceil(x))
PYGPU_HALF1(trunc, std::trunc(x))
PYGPU_HALF1(rint, std::nearbyint(x))
#undef PYGPU_HALF1
inline __half __habs(__half a) {
  return __ushort_as_half(static_cast<unsigned short>(__half_as_ushort(a) & 0x7fffu));
}
inline __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }

#define PYGPU_HALF_STEP(type, op, one)                           \
  inline type& operator op##op(type& a) { return a op## = one; } \
  inline type operator op##op(type& a, int) {                    \
    const type before = a;                                       \
    a op## = one;                                                \
    return before;                                               \
  }
#ifndef __CUDA_NO_HALF_OPERATORS__
#define PYGPU_HALF_OPERATOR(op)                                                                    \
  inline __half operator op(__half a, __half b) { return __half(float(a) op float(b)); }           \
  inline __half& operator op##=(__half& a, __half b) { return a = a op b; }                        \
  template <class T>                                                                               \
  inline typename std::enable_if<std::is_floating_point<T>::value, T>::type operator op(__half a,  \
                                                                                        T b) {     \
    return T(float(a)) op b;                                                                       \
  }                                                                                                \
  template <class T>                                                                               \
  inline typename std::enable_if<std::is_floating_point<T>::value, T>::type operator op(           \
      T a, __half b) {                                                                             \
    return a op T(float(b));                                                                       \
  }                                                                                                \
  template <class T>                                                                               \
  inline typename std::enable_if<std::is_integral<T>::value, __half>::type operator op(__half a,   \
                                                                                       T b) {      \
    return a op __half(b);                                                                         \
  }                                                                                                \
  template <class T>                                                                               \
  inline typename std::enable_if<std::is_integral<T>::value, __half>::type operator op(T a,        \
                                                                                       __half b) { \
    return __half(a) op b;                                                                         \
  }
PYGPU_HALF_OPERATOR(+)
PYGPU_HALF_OPERATOR(-)
PYGPU_HALF_OPERATOR(*)
PYGPU_HALF_OPERATOR(/)
#undef PYGPU_HALF_OPERATOR
inline __half operator-(__half a) { return __hneg(a); }
inline __half operator+(__half a) { return a; }
PYGPU_HALF_STEP(__half, +, __half(1.0f))
PYGPU_HALF_STEP(__half, -, __half(1.0f))

#define PYGPU_HALF_COMPARISON(op)                                                                  \
  inline bool operator op(__half a, __half b) { return float(a) op float(b); }                     \
  template <class T>                                                                               \
  inline typename std::enable_if<std::is_arithmetic<T>::value, bool>::type operator op(__half a,   \
                                                                                       T b) {      \
    return float(a) op b;                                                                          \
  }                                                                                                \
  template <class T>                                                                               \
  inline typename std::enable_if<std::is_arithmetic<T>::value, bool>::type operator op(T a,        \
                                                                                       __half b) { \
    return a op float(b);                                                                          \
  }
PYGPU_HALF_COMPARISON(==)
PYGPU_HALF_COMPARISON(!=)
PYGPU_HALF_COMPARISON(<)
PYGPU_HALF_COMPARISON(>)
PYGPU_HALF_COMPARISON(<=)
PYGPU_HALF_COMPARISON(>=)
#undef PYGPU_HALF_COMPARISON
#endif  // __CUDA_NO_HALF_OPERATORS__

#ifndef __CUDA_NO_HALF2_OPERATORS__
#define PYGPU_HALF2_OPERATOR(op, name)                                    \
  inline __half2 operator op(__half2 a, __half2 b) { return name(a, b); } \
  inline __half2& operator op##=(__half2& a, __half2 b) { return a = name(a, b); }
PYGPU_HALF2_OPERATOR(+, __hadd2)
PYGPU_HALF2_OPERATOR(-, __hsub2)
PYGPU_HALF2_OPERATOR(*, __hmul2)
PYGPU_HALF2_OPERATOR(/, __h2div)
#undef PYGPU_HALF2_OPERATOR
inline __half2 operator-(__half2 a) { return __hneg2(a); }
inline __half2 operator+(__half2 a) { return a; }
PYGPU_HALF_STEP(__half2, +, __half2(1.0f, 1.0f))
PYGPU_HALF_STEP(__half2, -, __half2(1.0f, 1.0f))
inline bool operator==(__half2 a, __half2 b) { return __hbeq2(a, b); }
inline bool operator!=(__half2 a, __half2 b) { return __hbneu2(a, b); }
inline bool operator<(__half2 a, __half2 b) { return __hblt2(a, b); }
inline bool operator>(__half2 a, __half2 b) { return __hbgt2(a, b); }
inline bool operator<=(__half2 a, __half2 b) { return __hble2(a, b); }
inline bool operator>=(__half2 a, __half2 b) { return __hbge2(a, b); }
#endif  // __CUDA_NO_HALF2_OPERATORS__
#undef PYGPU_HALF_STEP
