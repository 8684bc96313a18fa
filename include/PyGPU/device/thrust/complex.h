// thrust::complex<T>: pycuda::complex with the layout, the conversions and the types of results
// that Thrust's has. It is aligned as a pair is (float2, double2), becomes narrower without a cast,
// and of two types their common one decides: a complex<float> times a double is a complex<double>.
#pragma once

#include "../pycuda-complex.hpp"

extern "C++" {

#define PYGPU_THRUST __host__ __device__ inline

namespace thrust {

template <class T>
struct alignas(2 * sizeof(T)) complex {
  typedef T value_type;

  pycuda::complex<T> _M_value;

  complex() = default;
  __host__ __device__ constexpr complex(const T& re) : _M_value(re) {}
  __host__ __device__ constexpr complex(const T& re, const T& im) : _M_value(re, im) {}
  // From any other complex number: of another T, pycuda's, std's.
  template <class Z, class = decltype(T(Z().real()) + T(Z().imag()))>
  PYGPU_THRUST complex(const Z& z) : _M_value(T(z.real()), T(z.imag())) {}

  PYGPU_THRUST operator pycuda::complex<T>() const { return _M_value; }

  PYGPU_THRUST T real() const { return _M_value._M_re; }
  PYGPU_THRUST T imag() const { return _M_value._M_im; }
  PYGPU_THRUST T real() const volatile { return _M_value._M_re; }
  PYGPU_THRUST T imag() const volatile { return _M_value._M_im; }
  PYGPU_THRUST void real(T re) { _M_value._M_re = re; }
  PYGPU_THRUST void imag(T im) { _M_value._M_im = im; }
  PYGPU_THRUST void real(T re) volatile { _M_value._M_re = re; }
  PYGPU_THRUST void imag(T im) volatile { _M_value._M_im = im; }

#define PYGPU_THRUST_COMPOUND(op)                        \
  template <class Other>                                 \
  PYGPU_THRUST complex& operator op##=(const Other& z) { \
    return *this = complex(*this op z);                  \
  }
  PYGPU_THRUST_COMPOUND(+)
  PYGPU_THRUST_COMPOUND(-)
  PYGPU_THRUST_COMPOUND(*)
  PYGPU_THRUST_COMPOUND(/)
#undef PYGPU_THRUST_COMPOUND
};

namespace complex_detail {
template <class A, class B>
struct common {
  typedef decltype(true ? A() : B()) part;
  typedef complex<part> type;
  typedef pycuda::complex<part> plain;
};
template <class A, class S, bool = pycuda::complex_detail::is_scalar<S>::value>
struct with_scalar {};
template <class A, class S>
struct with_scalar<A, S, true> : common<A, S> {
  typedef bool truth;
};
}  // namespace complex_detail

// Two complex numbers, or one and a scalar on either side, as their common type.
#define PYGPU_THRUST_BINARY(name, call)                                                     \
  template <class A, class B>                                                               \
  PYGPU_THRUST typename complex_detail::common<A, B>::type name(const complex<A>& a,        \
                                                                const complex<B>& b) {      \
    typedef complex_detail::common<A, B> common;                                            \
    return call(typename common::plain(a._M_value), typename common::plain(b._M_value));    \
  }                                                                                         \
  template <class A, class S>                                                               \
  PYGPU_THRUST typename complex_detail::with_scalar<A, S>::type name(const complex<A>& a,   \
                                                                     const S& s) {          \
    typedef complex_detail::common<A, S> common;                                            \
    return call(typename common::plain(a._M_value), typename common::part(s));              \
  }                                                                                         \
  template <class A, class S>                                                               \
  PYGPU_THRUST typename complex_detail::with_scalar<A, S>::type name(const S& s,            \
                                                                     const complex<A>& a) { \
    typedef complex_detail::common<A, S> common;                                            \
    return call(typename common::part(s), typename common::plain(a._M_value));              \
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

#define PYGPU_THRUST_COMPARE(op, combine)                                                         \
  template <class A, class B>                                                                     \
  PYGPU_THRUST bool operator op(const complex<A>& a, const complex<B>& b) {                       \
    return a.real() op b.real() combine a.imag() op b.imag();                                     \
  }                                                                                               \
  template <class A, class S>                                                                     \
  PYGPU_THRUST typename complex_detail::with_scalar<A, S>::truth operator op(const complex<A>& a, \
                                                                             const S& s) {        \
    return a.real() op s combine a.imag() op A(0);                                                \
  }                                                                                               \
  template <class A, class S>                                                                     \
  PYGPU_THRUST typename complex_detail::with_scalar<A, S>::truth operator op(                     \
      const S& s, const complex<A>& a) {                                                          \
    return a op s;                                                                                \
  }
PYGPU_THRUST_COMPARE(==, &&)
PYGPU_THRUST_COMPARE(!=, ||)
#undef PYGPU_THRUST_COMPARE

#define PYGPU_THRUST_UNARY(result, name, expression) \
  template <class T>                                 \
  PYGPU_THRUST result name(const complex<T>& z) {    \
    return expression;                               \
  }
#define PYGPU_THRUST_FUNCTION(result, name) \
  PYGPU_THRUST_UNARY(result, name, pycuda::name(z._M_value))
PYGPU_THRUST_UNARY(complex<T>, operator+, z)
PYGPU_THRUST_UNARY(complex<T>, operator-, -z._M_value)
PYGPU_THRUST_FUNCTION(T, real)
PYGPU_THRUST_FUNCTION(T, imag)
PYGPU_THRUST_FUNCTION(T, abs)
PYGPU_THRUST_FUNCTION(T, arg)
PYGPU_THRUST_FUNCTION(T, norm)
PYGPU_THRUST_FUNCTION(complex<T>, conj)
PYGPU_THRUST_FUNCTION(complex<T>, proj)
PYGPU_THRUST_FUNCTION(complex<T>, exp)
PYGPU_THRUST_FUNCTION(complex<T>, log)
PYGPU_THRUST_FUNCTION(complex<T>, log10)
PYGPU_THRUST_FUNCTION(complex<T>, sqrt)
PYGPU_THRUST_FUNCTION(complex<T>, sin)
PYGPU_THRUST_FUNCTION(complex<T>, cos)
PYGPU_THRUST_FUNCTION(complex<T>, tan)
PYGPU_THRUST_FUNCTION(complex<T>, sinh)
PYGPU_THRUST_FUNCTION(complex<T>, cosh)
PYGPU_THRUST_FUNCTION(complex<T>, tanh)
PYGPU_THRUST_FUNCTION(complex<T>, asin)
PYGPU_THRUST_FUNCTION(complex<T>, acos)
PYGPU_THRUST_FUNCTION(complex<T>, atan)
PYGPU_THRUST_FUNCTION(complex<T>, asinh)
PYGPU_THRUST_FUNCTION(complex<T>, acosh)
PYGPU_THRUST_FUNCTION(complex<T>, atanh)
#undef PYGPU_THRUST_FUNCTION
#undef PYGPU_THRUST_UNARY

template <class A, class B>
PYGPU_THRUST typename complex_detail::common<A, B>::type polar(const A& radius, const B& angle) {
  typedef typename complex_detail::common<A, B>::part part;
  return pycuda::polar(part(radius), part(angle));
}
template <class T>
PYGPU_THRUST complex<T> polar(const T& radius) {
  return complex<T>(radius);
}

}  // namespace thrust

#undef PYGPU_THRUST
}
