// Operators of pycuda::complex with scalars, with the other precision and with volatile operands.
//
// A scalar takes the precision of the complex number (so z * 2.0 stays what z is); of two complex
// numbers the wider one decides.
#pragma once

namespace pycuda {

#define PYGPU_COMPLEX_FOR_SCALAR(result) \
  template <class T, class S>            \
  PYGPU_COMPLEX                          \
      typename complex_detail::only_if<complex_detail::is_scalar<S>::value, result>::type

PYGPU_COMPLEX_FOR_SCALAR(complex<T>) operator+(const complex<T>& z, S s) {
  return complex<T>(z._M_re + T(s), z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<T>) operator+(S s, const complex<T>& z) {
  return complex<T>(T(s) + z._M_re, z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<T>) operator-(const complex<T>& z, S s) {
  return complex<T>(z._M_re - T(s), z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<T>) operator-(S s, const complex<T>& z) {
  return complex<T>(T(s) - z._M_re, -z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<T>) operator*(const complex<T>& z, S s) {
  return complex<T>(z._M_re * T(s), z._M_im * T(s));
}
PYGPU_COMPLEX_FOR_SCALAR(complex<T>) operator*(S s, const complex<T>& z) {
  return complex<T>(T(s) * z._M_re, T(s) * z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<T>) operator/(const complex<T>& z, S s) {
  return complex<T>(z._M_re / T(s), z._M_im / T(s));
}
PYGPU_COMPLEX_FOR_SCALAR(complex<T>) operator/(S s, const complex<T>& z) {
  return complex<T>(T(s)) / z;
}
PYGPU_COMPLEX_FOR_SCALAR(bool) operator==(const complex<T>& z, S s) {
  return z._M_re == T(s) && z._M_im == T(0);
}
PYGPU_COMPLEX_FOR_SCALAR(bool) operator==(S s, const complex<T>& z) {
  return z._M_re == T(s) && z._M_im == T(0);
}
PYGPU_COMPLEX_FOR_SCALAR(bool) operator!=(const complex<T>& z, S s) {
  return z._M_re != T(s) || z._M_im != T(0);
}
PYGPU_COMPLEX_FOR_SCALAR(bool) operator!=(S s, const complex<T>& z) {
  return z._M_re != T(s) || z._M_im != T(0);
}
#undef PYGPU_COMPLEX_FOR_SCALAR

// Two precisions, or a volatile operand: both become plain values of the wider type first. Each
// mixture of qualifiers is listed, because a reference to volatile cannot bind to a temporary.
#define PYGPU_COMPLEX_WIDEN(op, left, right, condition, ...)                                  \
  template <class A, class B>                                                                 \
  PYGPU_COMPLEX typename complex_detail::only_if<(condition), __VA_ARGS__>::type operator op( \
      left complex<A>& a, right complex<B>& b) {                                              \
    typedef complex<typename complex_detail::wider<A, B>::type> wide;                         \
    return wide(a) op wide(b);                                                                \
  }
#define PYGPU_COMPLEX_PAIRS(op, ...)                                         \
  PYGPU_COMPLEX_WIDEN(op, const, const, sizeof(A) != sizeof(B), __VA_ARGS__) \
  PYGPU_COMPLEX_WIDEN(op, const, const volatile, true, __VA_ARGS__)          \
  PYGPU_COMPLEX_WIDEN(op, const volatile, const, true, __VA_ARGS__)          \
  PYGPU_COMPLEX_WIDEN(op, const volatile, const volatile, true, __VA_ARGS__)
#define PYGPU_COMPLEX_VOLATILE_SCALAR(op, result)                                         \
  template <class T, class S>                                                             \
  PYGPU_COMPLEX                                                                           \
      typename complex_detail::only_if<complex_detail::is_scalar<S>::value, result>::type \
      operator op(const volatile complex<T>& z, S s) {                                    \
    return complex<T>(z) op s;                                                            \
  }                                                                                       \
  template <class T, class S>                                                             \
  PYGPU_COMPLEX                                                                           \
      typename complex_detail::only_if<complex_detail::is_scalar<S>::value, result>::type \
      operator op(S s, const volatile complex<T>& z) {                                    \
    return s op complex<T>(z);                                                            \
  }
PYGPU_COMPLEX_PAIRS(+, complex<typename complex_detail::wider<A, B>::type>)
PYGPU_COMPLEX_PAIRS(-, complex<typename complex_detail::wider<A, B>::type>)
PYGPU_COMPLEX_PAIRS(*, complex<typename complex_detail::wider<A, B>::type>)
PYGPU_COMPLEX_PAIRS(/, complex<typename complex_detail::wider<A, B>::type>)
PYGPU_COMPLEX_PAIRS(==, bool)
PYGPU_COMPLEX_PAIRS(!=, bool)
PYGPU_COMPLEX_VOLATILE_SCALAR(+, complex<T>)
PYGPU_COMPLEX_VOLATILE_SCALAR(-, complex<T>)
PYGPU_COMPLEX_VOLATILE_SCALAR(*, complex<T>)
PYGPU_COMPLEX_VOLATILE_SCALAR(/, complex<T>)
#undef PYGPU_COMPLEX_VOLATILE_SCALAR
#undef PYGPU_COMPLEX_PAIRS
#undef PYGPU_COMPLEX_WIDEN

template <class T>
PYGPU_COMPLEX complex<T> operator-(const volatile complex<T>& z) {
  return -complex<T>(z);
}

}  // namespace pycuda
