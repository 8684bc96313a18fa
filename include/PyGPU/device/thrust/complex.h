// thrust::complex<T>: pycuda::complex with Thrust's layout, conversions and result types. It is
// aligned as a pair (float2, double2) and converts to narrower types without a cast. Two types
// combine to their common type: a complex<float> times a double is a complex<double>.
#pragma once

#include "../pycuda-complex.hpp"

extern "C++" {

#define PYGPU_THRUST __host__ __device__ inline

namespace thrust {

template <class P_T>
struct alignas(2 * sizeof(P_T)) complex {
  typedef P_T value_type;

  pycuda::complex<P_T> _M_value;

  complex() = default;
  __host__ __device__ constexpr complex(const P_T& P_re) : _M_value(P_re) {}
  __host__ __device__ constexpr complex(const P_T& P_re, const P_T& P_im) : _M_value(P_re, P_im) {}
  // Conversion from other complex numbers: of another T, of pycuda, of std.
  template <class P_Z, class = decltype(P_T(P_Z().real()) + P_T(P_Z().imag()))>
  PYGPU_THRUST complex(const P_Z& P_z) : _M_value(P_T(P_z.real()), P_T(P_z.imag())) {}

  PYGPU_THRUST operator pycuda::complex<P_T>() const { return _M_value; }

  PYGPU_THRUST P_T real() const { return _M_value._M_re; }
  PYGPU_THRUST P_T imag() const { return _M_value._M_im; }
  PYGPU_THRUST P_T real() const volatile { return _M_value._M_re; }
  PYGPU_THRUST P_T imag() const volatile { return _M_value._M_im; }
  PYGPU_THRUST void real(P_T P_re) { _M_value._M_re = P_re; }
  PYGPU_THRUST void imag(P_T P_im) { _M_value._M_im = P_im; }
  PYGPU_THRUST void real(P_T P_re) volatile { _M_value._M_re = P_re; }
  PYGPU_THRUST void imag(P_T P_im) volatile { _M_value._M_im = P_im; }

#define PYGPU_THRUST_COMPOUND(op)                            \
  template <class P_Other>                                   \
  PYGPU_THRUST complex& operator op##=(const P_Other& P_z) { \
    return *this = complex(*this op P_z);                    \
  }
  PYGPU_THRUST_COMPOUND(+)
  PYGPU_THRUST_COMPOUND(-)
  PYGPU_THRUST_COMPOUND(*)
  PYGPU_THRUST_COMPOUND(/)
#undef PYGPU_THRUST_COMPOUND
};

namespace complex_detail {
template <class P_A, class P_B>
struct P_common {
  typedef decltype(true ? P_A() : P_B()) P_part;
  typedef complex<P_part> P_type;
  typedef pycuda::complex<P_part> P_plain;
};
template <class P_A, class P_S, bool = pycuda::complex_detail::P_is_scalar<P_S>::P_value>
struct P_with_scalar {};
template <class P_A, class P_S>
struct P_with_scalar<P_A, P_S, true> : P_common<P_A, P_S> {
  typedef bool P_truth;
};
}  // namespace complex_detail

// Operators of two complex numbers, or of one and a scalar on either side, in their common type.
#define PYGPU_THRUST_BINARY(name, call)                                                            \
  template <class P_A, class P_B>                                                                  \
  PYGPU_THRUST typename complex_detail::P_common<P_A, P_B>::P_type name(const complex<P_A>& P_a,   \
                                                                        const complex<P_B>& P_b) { \
    typedef complex_detail::P_common<P_A, P_B> P_common;                                           \
    return call(typename P_common::P_plain(P_a._M_value),                                          \
                typename P_common::P_plain(P_b._M_value));                                         \
  }                                                                                                \
  template <class P_A, class P_S>                                                                  \
  PYGPU_THRUST typename complex_detail::P_with_scalar<P_A, P_S>::P_type name(                      \
      const complex<P_A>& P_a, const P_S& P_s) {                                                   \
    typedef complex_detail::P_common<P_A, P_S> P_common;                                           \
    return call(typename P_common::P_plain(P_a._M_value), typename P_common::P_part(P_s));         \
  }                                                                                                \
  template <class P_A, class P_S>                                                                  \
  PYGPU_THRUST typename complex_detail::P_with_scalar<P_A, P_S>::P_type name(                      \
      const P_S& P_s, const complex<P_A>& P_a) {                                                   \
    typedef complex_detail::P_common<P_A, P_S> P_common;                                           \
    return call(typename P_common::P_part(P_s), typename P_common::P_plain(P_a._M_value));         \
  }
#define PYGPU_THRUST_ADD(a, b) (a) + (b)
#define PYGPU_THRUST_SUBTRACT(a, b) (a) - (b)
#define PYGPU_THRUST_MULTIPLY(a, b) (a) * (b)
#define PYGPU_THRUST_DIVIDE(a, b) (a) / (b)
PYGPU_THRUST_BINARY(operator+, PYGPU_THRUST_ADD)
PYGPU_THRUST_BINARY(operator-, PYGPU_THRUST_SUBTRACT)
PYGPU_THRUST_BINARY(operator*, PYGPU_THRUST_MULTIPLY)
PYGPU_THRUST_BINARY(operator/, PYGPU_THRUST_DIVIDE)
PYGPU_THRUST_BINARY(pow, pycuda::pow)
#undef PYGPU_THRUST_BINARY
#undef PYGPU_THRUST_ADD
#undef PYGPU_THRUST_SUBTRACT
#undef PYGPU_THRUST_MULTIPLY
#undef PYGPU_THRUST_DIVIDE

#define PYGPU_THRUST_COMPARE(op, combine)                                             \
  template <class P_A, class P_B>                                                     \
  PYGPU_THRUST bool operator op(const complex<P_A>& P_a, const complex<P_B>& P_b) {   \
    return P_a.real() op P_b.real() combine P_a.imag() op P_b.imag();                 \
  }                                                                                   \
  template <class P_A, class P_S>                                                     \
  PYGPU_THRUST typename complex_detail::P_with_scalar<P_A, P_S>::P_truth operator op( \
      const complex<P_A>& P_a, const P_S& P_s) {                                      \
    return P_a.real() op P_s combine P_a.imag() op P_A(0);                            \
  }                                                                                   \
  template <class P_A, class P_S>                                                     \
  PYGPU_THRUST typename complex_detail::P_with_scalar<P_A, P_S>::P_truth operator op( \
      const P_S& P_s, const complex<P_A>& P_a) {                                      \
    return P_a op P_s;                                                                \
  }
PYGPU_THRUST_COMPARE(==, &&)
PYGPU_THRUST_COMPARE(!=, ||)
#undef PYGPU_THRUST_COMPARE

#define PYGPU_THRUST_UNARY(result, name, expression)  \
  template <class P_T>                                \
  PYGPU_THRUST result name(const complex<P_T>& P_z) { \
    return expression;                                \
  }
#define PYGPU_THRUST_FUNCTION(result, name) \
  PYGPU_THRUST_UNARY(result, name, pycuda::name(P_z._M_value))
PYGPU_THRUST_UNARY(complex<P_T>, operator+, P_z)
PYGPU_THRUST_UNARY(complex<P_T>, operator-, -P_z._M_value)
PYGPU_THRUST_FUNCTION(P_T, real)
PYGPU_THRUST_FUNCTION(P_T, imag)
PYGPU_THRUST_FUNCTION(P_T, abs)
PYGPU_THRUST_FUNCTION(P_T, arg)
PYGPU_THRUST_FUNCTION(P_T, norm)
PYGPU_THRUST_FUNCTION(complex<P_T>, conj)
PYGPU_THRUST_FUNCTION(complex<P_T>, proj)
PYGPU_THRUST_FUNCTION(complex<P_T>, exp)
PYGPU_THRUST_FUNCTION(complex<P_T>, log)
PYGPU_THRUST_FUNCTION(complex<P_T>, log10)
PYGPU_THRUST_FUNCTION(complex<P_T>, sqrt)
PYGPU_THRUST_FUNCTION(complex<P_T>, sin)
PYGPU_THRUST_FUNCTION(complex<P_T>, cos)
PYGPU_THRUST_FUNCTION(complex<P_T>, tan)
PYGPU_THRUST_FUNCTION(complex<P_T>, sinh)
PYGPU_THRUST_FUNCTION(complex<P_T>, cosh)
PYGPU_THRUST_FUNCTION(complex<P_T>, tanh)
PYGPU_THRUST_FUNCTION(complex<P_T>, asin)
PYGPU_THRUST_FUNCTION(complex<P_T>, acos)
PYGPU_THRUST_FUNCTION(complex<P_T>, atan)
PYGPU_THRUST_FUNCTION(complex<P_T>, asinh)
PYGPU_THRUST_FUNCTION(complex<P_T>, acosh)
PYGPU_THRUST_FUNCTION(complex<P_T>, atanh)
#undef PYGPU_THRUST_FUNCTION
#undef PYGPU_THRUST_UNARY

template <class P_A, class P_B>
PYGPU_THRUST typename complex_detail::P_common<P_A, P_B>::P_type polar(const P_A& P_radius,
                                                                       const P_B& P_angle) {
  typedef typename complex_detail::P_common<P_A, P_B>::P_part P_part;
  return pycuda::polar(P_part(P_radius), P_part(P_angle));
}
template <class P_T>
PYGPU_THRUST complex<P_T> polar(const P_T& P_radius) {
  return complex<P_T>(P_radius);
}

}  // namespace thrust

#undef PYGPU_THRUST
}
