// Arithmetic, comparisons and functions for the types of float16.h, which includes this file.

inline PYGPU_F16 __hneg(PYGPU_F16 a) {
  const unsigned bits = PYGPU_F16_RAW(a).x ^ 0x8000u;
  return PYGPU_F16_RAW{static_cast<unsigned short>(bits)};
}
inline PYGPU_F16X2 __hneg2(PYGPU_F16X2 a) { return PYGPU_F16X2(__hneg(a.x), __hneg(a.y)); }
inline bool __hisnan(PYGPU_F16 a) { return (PYGPU_F16_RAW(a).x & 0x7fffu) > PYGPU_F16_INFINITY; }

// Define name(a, b) and name2(pair, pair) from an expression in the floats x and y.
#define PYGPU_F16_OF2(name, name2, expression)             \
  inline PYGPU_F16 name(PYGPU_F16 a, PYGPU_F16 b) {        \
    const float x = a, y = b;                              \
    return PYGPU_F16(expression);                          \
  }                                                        \
  inline PYGPU_F16X2 name2(PYGPU_F16X2 a, PYGPU_F16X2 b) { \
    return PYGPU_F16X2(name(a.x, b.x), name(a.y, b.y));    \
  }
PYGPU_F16_OF2(__hadd, __hadd2, x + y)
PYGPU_F16_OF2(__hsub, __hsub2, x - y)
PYGPU_F16_OF2(__hmul, __hmul2, x* y)
PYGPU_F16_OF2(__hdiv, __h2div, x / y)
PYGPU_F16_OF2(__hadd_rn, __hadd2_rn, x + y)
PYGPU_F16_OF2(__hsub_rn, __hsub2_rn, x - y)
PYGPU_F16_OF2(__hmul_rn, __hmul2_rn, x* y)
PYGPU_F16_OF2(__hadd_sat, __hadd2_sat, __saturatef(x + y))
PYGPU_F16_OF2(__hsub_sat, __hsub2_sat, __saturatef(x - y))
PYGPU_F16_OF2(__hmul_sat, __hmul2_sat, __saturatef(x* y))
// Minimum and maximum: +0 is larger than -0. If one operand is NaN, the result is the other
// operand, or NaN for the functions with _nan.
PYGPU_F16_OF2(__hmin, __hmin2, y != y || x < y || (x == y && std::signbit(x)) ? x : y)
PYGPU_F16_OF2(__hmax, __hmax2, y != y || x > y || (x == y && !std::signbit(x)) ? x : y)
PYGPU_F16_OF2(__hmin_nan, __hmin2_nan, x != x ? x : y != y ? y : float(__hmin(a, b)))
PYGPU_F16_OF2(__hmax_nan, __hmax2_nan, x != x ? x : y != y ? y : float(__hmax(a, b)))
#undef PYGPU_F16_OF2

inline PYGPU_F16 __hfma(PYGPU_F16 a, PYGPU_F16 b, PYGPU_F16 c) {
  return PYGPU_F16(PyGPU::host::sum_to_odd(double(float(a)) * double(float(b)), double(float(c))));
}
inline PYGPU_F16 __hfma_sat(PYGPU_F16 a, PYGPU_F16 b, PYGPU_F16 c) {
  return PYGPU_F16(__saturatef(float(__hfma(a, b, c))));
}
inline PYGPU_F16 __hfma_relu(PYGPU_F16 a, PYGPU_F16 b, PYGPU_F16 c) {
  return __hmax_nan(__hfma(a, b, c), PYGPU_F16(0.0f));
}
#define PYGPU_F16_FMA2(name)                                                      \
  inline PYGPU_F16X2 __hfma2##name(PYGPU_F16X2 a, PYGPU_F16X2 b, PYGPU_F16X2 c) { \
    return PYGPU_F16X2(__hfma##name(a.x, b.x, c.x), __hfma##name(a.y, b.y, c.y)); \
  }
PYGPU_F16_FMA2()
PYGPU_F16_FMA2(_sat)
PYGPU_F16_FMA2(_relu)
#undef PYGPU_F16_FMA2
// Complex a * b + c, rounded after each of its two steps.
inline PYGPU_F16X2 __hcmadd(PYGPU_F16X2 a, PYGPU_F16X2 b, PYGPU_F16X2 c) {
  const PYGPU_F16 real = __hfma(a.x, b.x, c.x), imag = __hfma(a.x, b.y, c.y);
  return PYGPU_F16X2(__hfma(__hneg(a.y), b.y, real), __hfma(a.y, b.x, imag));
}

// Comparisons are false if an operand is NaN; those with the suffix u are true.
#define PYGPU_F16_TEST2(test)                                                                 \
  inline PYGPU_F16X2 __h##test##2(PYGPU_F16X2 a, PYGPU_F16X2 b) {                             \
    return PYGPU_F16X2(__h##test(a.x, b.x) ? 1.0f : 0.0f, __h##test(a.y, b.y) ? 1.0f : 0.0f); \
  }                                                                                           \
  inline bool __hb##test##2(PYGPU_F16X2 a, PYGPU_F16X2 b) {                                   \
    return __h##test(a.x, b.x) && __h##test(a.y, b.y);                                        \
  }                                                                                           \
  inline unsigned __h##test##2_mask(PYGPU_F16X2 a, PYGPU_F16X2 b) {                           \
    return (__h##test(a.x, b.x) ? 0xffffu : 0u) | (__h##test(a.y, b.y) ? 0xffff0000u : 0u);   \
  }
#define PYGPU_F16_TEST(test, op)                                 \
  inline bool __h##test(PYGPU_F16 a, PYGPU_F16 b) {              \
    return !__hisnan(a) && !__hisnan(b) && float(a) op float(b); \
  }                                                              \
  inline bool __h##test##u(PYGPU_F16 a, PYGPU_F16 b) {           \
    return __hisnan(a) || __hisnan(b) || float(a) op float(b);   \
  }                                                              \
  PYGPU_F16_TEST2(test)                                          \
  PYGPU_F16_TEST2(test##u)
PYGPU_F16_TEST(eq, ==)
PYGPU_F16_TEST(ne, !=)
PYGPU_F16_TEST(lt, <)
PYGPU_F16_TEST(gt, >)
PYGPU_F16_TEST(le, <=)
PYGPU_F16_TEST(ge, >=)
#undef PYGPU_F16_TEST
#undef PYGPU_F16_TEST2
inline PYGPU_F16X2 __hisnan2(PYGPU_F16X2 a) {
  return PYGPU_F16X2(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
}
inline int __hisinf(PYGPU_F16 a) {
  const unsigned bits = PYGPU_F16_RAW(a).x;
  return bits == PYGPU_F16_INFINITY ? 1 : bits == (PYGPU_F16_INFINITY | 0x8000u) ? -1 : 0;
}

// Define hname(a) and h2name(pair).
#define PYGPU_F16_OF1(name, expression)   \
  inline PYGPU_F16 h##name(PYGPU_F16 a) { \
    const float x = a;                    \
    return PYGPU_F16(expression);         \
  }                                       \
  inline PYGPU_F16X2 h2##name(PYGPU_F16X2 a) { return PYGPU_F16X2(h##name(a.x), h##name(a.y)); }
PYGPU_F16_OF1(sqrt, std::sqrt(x))
PYGPU_F16_OF1(rsqrt, 1.0f / std::sqrt(x))
PYGPU_F16_OF1(rcp, 1.0f / x)
PYGPU_F16_OF1(exp, std::exp(x))
PYGPU_F16_OF1(exp2, std::exp2(x))
PYGPU_F16_OF1(exp10, std::pow(10.0f, x))
PYGPU_F16_OF1(log, std::log(x))
PYGPU_F16_OF1(log2, std::log2(x))
PYGPU_F16_OF1(log10, std::log10(x))
PYGPU_F16_OF1(sin, std::sin(x))
PYGPU_F16_OF1(cos, std::cos(x))
PYGPU_F16_OF1(tanh, std::tanh(x))
PYGPU_F16_OF1(tanh_approx, std::tanh(x))
PYGPU_F16_OF1(floor, std::floor(x))
PYGPU_F16_OF1(ceil, std::ceil(x))
PYGPU_F16_OF1(trunc, std::trunc(x))
PYGPU_F16_OF1(rint, std::nearbyint(x))
#undef PYGPU_F16_OF1
inline PYGPU_F16 __habs(PYGPU_F16 a) {
  const unsigned bits = PYGPU_F16_RAW(a).x & 0x7fffu;
  return PYGPU_F16_RAW{static_cast<unsigned short>(bits)};
}
inline PYGPU_F16X2 __habs2(PYGPU_F16X2 a) { return PYGPU_F16X2(__habs(a.x), __habs(a.y)); }

#define PYGPU_F16_STEP(type, op, one)                            \
  inline type& operator op##op(type& a) { return a op## = one; } \
  inline type operator op##op(type& a, int) {                    \
    const type before = a;                                       \
    a op## = one;                                                \
    return before;                                               \
  }
#if PYGPU_F16_OPERATORS
#define PYGPU_F16_OPERATOR(op)                                                             \
  inline PYGPU_F16 operator op(PYGPU_F16 a, PYGPU_F16 b) {                                 \
    return PYGPU_F16(float(a) op float(b));                                                \
  }                                                                                        \
  inline PYGPU_F16& operator op##=(PYGPU_F16& a, PYGPU_F16 b) { return a = a op b; }       \
  template <class T>                                                                       \
  inline typename std::enable_if<std::is_floating_point<T>::value, T>::type operator op(   \
      PYGPU_F16 a, T b) {                                                                  \
    return T(float(a)) op b;                                                               \
  }                                                                                        \
  template <class T>                                                                       \
  inline typename std::enable_if<std::is_floating_point<T>::value, T>::type operator op(   \
      T a, PYGPU_F16 b) {                                                                  \
    return a op T(float(b));                                                               \
  }                                                                                        \
  template <class T>                                                                       \
  inline typename std::enable_if<std::is_integral<T>::value, PYGPU_F16>::type operator op( \
      PYGPU_F16 a, T b) {                                                                  \
    return a op PYGPU_F16(b);                                                              \
  }                                                                                        \
  template <class T>                                                                       \
  inline typename std::enable_if<std::is_integral<T>::value, PYGPU_F16>::type operator op( \
      T a, PYGPU_F16 b) {                                                                  \
    return PYGPU_F16(a) op b;                                                              \
  }
PYGPU_F16_OPERATOR(+)
PYGPU_F16_OPERATOR(-)
PYGPU_F16_OPERATOR(*)
PYGPU_F16_OPERATOR(/)
#undef PYGPU_F16_OPERATOR
inline PYGPU_F16 operator-(PYGPU_F16 a) { return __hneg(a); }
inline PYGPU_F16 operator+(PYGPU_F16 a) { return a; }
PYGPU_F16_STEP(PYGPU_F16, +, PYGPU_F16(1.0f))
PYGPU_F16_STEP(PYGPU_F16, -, PYGPU_F16(1.0f))

#define PYGPU_F16_COMPARISON(op)                                                        \
  inline bool operator op(PYGPU_F16 a, PYGPU_F16 b) { return float(a) op float(b); }    \
  template <class T>                                                                    \
  inline typename std::enable_if<std::is_arithmetic<T>::value, bool>::type operator op( \
      PYGPU_F16 a, T b) {                                                               \
    return float(a) op b;                                                               \
  }                                                                                     \
  template <class T>                                                                    \
  inline typename std::enable_if<std::is_arithmetic<T>::value, bool>::type operator op( \
      T a, PYGPU_F16 b) {                                                               \
    return a op float(b);                                                               \
  }
PYGPU_F16_COMPARISON(==)
PYGPU_F16_COMPARISON(!=)
PYGPU_F16_COMPARISON(<)
PYGPU_F16_COMPARISON(>)
PYGPU_F16_COMPARISON(<=)
PYGPU_F16_COMPARISON(>=)
#undef PYGPU_F16_COMPARISON
#endif

#if PYGPU_F16X2_OPERATORS
#define PYGPU_F16_OF2_OPERATOR(op, name)                                              \
  inline PYGPU_F16X2 operator op(PYGPU_F16X2 a, PYGPU_F16X2 b) { return name(a, b); } \
  inline PYGPU_F16X2& operator op##=(PYGPU_F16X2& a, PYGPU_F16X2 b) { return a = name(a, b); }
PYGPU_F16_OF2_OPERATOR(+, __hadd2)
PYGPU_F16_OF2_OPERATOR(-, __hsub2)
PYGPU_F16_OF2_OPERATOR(*, __hmul2)
PYGPU_F16_OF2_OPERATOR(/, __h2div)
#undef PYGPU_F16_OF2_OPERATOR
inline PYGPU_F16X2 operator-(PYGPU_F16X2 a) { return __hneg2(a); }
inline PYGPU_F16X2 operator+(PYGPU_F16X2 a) { return a; }
PYGPU_F16_STEP(PYGPU_F16X2, +, PYGPU_F16X2(1.0f, 1.0f))
PYGPU_F16_STEP(PYGPU_F16X2, -, PYGPU_F16X2(1.0f, 1.0f))
inline bool operator==(PYGPU_F16X2 a, PYGPU_F16X2 b) { return __hbeq2(a, b); }
inline bool operator!=(PYGPU_F16X2 a, PYGPU_F16X2 b) { return __hbneu2(a, b); }
inline bool operator<(PYGPU_F16X2 a, PYGPU_F16X2 b) { return __hblt2(a, b); }
inline bool operator>(PYGPU_F16X2 a, PYGPU_F16X2 b) { return __hbgt2(a, b); }
inline bool operator<=(PYGPU_F16X2 a, PYGPU_F16X2 b) { return __hble2(a, b); }
inline bool operator>=(PYGPU_F16X2 a, PYGPU_F16X2 b) { return __hbge2(a, b); }
#endif
#undef PYGPU_F16_STEP
