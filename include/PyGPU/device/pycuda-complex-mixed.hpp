// Operators of pycuda::complex with scalars, with the other precision and with volatile operands.
//
// A scalar is converted to the precision of the complex number, so z * 2.0 keeps the type of z. Two
// complex numbers are converted to the wider type.
#pragma once

namespace pycuda {

#define PYGPU_COMPLEX_FOR_SCALAR(result)                                                      \
  template <class P_T, class P_S>                                                             \
  PYGPU_COMPLEX typename complex_detail::P_only_if<complex_detail::P_is_scalar<P_S>::P_value, \
                                                   result>::P_type

PYGPU_COMPLEX_FOR_SCALAR(complex<P_T>) operator+(const complex<P_T>& P_z, P_S P_s) {
  return complex<P_T>(P_z._M_re + P_T(P_s), P_z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<P_T>) operator+(P_S P_s, const complex<P_T>& P_z) {
  return complex<P_T>(P_T(P_s) + P_z._M_re, P_z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<P_T>) operator-(const complex<P_T>& P_z, P_S P_s) {
  return complex<P_T>(P_z._M_re - P_T(P_s), P_z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<P_T>) operator-(P_S P_s, const complex<P_T>& P_z) {
  return complex<P_T>(P_T(P_s) - P_z._M_re, -P_z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<P_T>) operator*(const complex<P_T>& P_z, P_S P_s) {
  return complex<P_T>(P_z._M_re * P_T(P_s), P_z._M_im * P_T(P_s));
}
PYGPU_COMPLEX_FOR_SCALAR(complex<P_T>) operator*(P_S P_s, const complex<P_T>& P_z) {
  return complex<P_T>(P_T(P_s) * P_z._M_re, P_T(P_s) * P_z._M_im);
}
PYGPU_COMPLEX_FOR_SCALAR(complex<P_T>) operator/(const complex<P_T>& P_z, P_S P_s) {
  return complex<P_T>(P_z._M_re / P_T(P_s), P_z._M_im / P_T(P_s));
}
PYGPU_COMPLEX_FOR_SCALAR(complex<P_T>) operator/(P_S P_s, const complex<P_T>& P_z) {
  return complex<P_T>(P_T(P_s)) / P_z;
}
PYGPU_COMPLEX_FOR_SCALAR(bool) operator==(const complex<P_T>& P_z, P_S P_s) {
  return P_z._M_re == P_T(P_s) && P_z._M_im == P_T(0);
}
PYGPU_COMPLEX_FOR_SCALAR(bool) operator==(P_S P_s, const complex<P_T>& P_z) {
  return P_z._M_re == P_T(P_s) && P_z._M_im == P_T(0);
}
PYGPU_COMPLEX_FOR_SCALAR(bool) operator!=(const complex<P_T>& P_z, P_S P_s) {
  return P_z._M_re != P_T(P_s) || P_z._M_im != P_T(0);
}
PYGPU_COMPLEX_FOR_SCALAR(bool) operator!=(P_S P_s, const complex<P_T>& P_z) {
  return P_z._M_re != P_T(P_s) || P_z._M_im != P_T(0);
}
#undef PYGPU_COMPLEX_FOR_SCALAR

// Two precisions, or a volatile operand: both operands become plain values of the wider type first.
// Each mixture of qualifiers is listed, because a reference to volatile cannot bind to a temporary.
#define PYGPU_COMPLEX_WIDEN(op, left, right, condition, ...)                                      \
  template <class P_A, class P_B>                                                                 \
  PYGPU_COMPLEX typename complex_detail::P_only_if<(condition), __VA_ARGS__>::P_type operator op( \
      left complex<P_A>& P_a, right complex<P_B>& P_b) {                                          \
    typedef complex<typename complex_detail::P_wider<P_A, P_B>::P_type> P_wide;                   \
    return P_wide(P_a) op P_wide(P_b);                                                            \
  }
#define PYGPU_COMPLEX_PAIRS(op, ...)                                             \
  PYGPU_COMPLEX_WIDEN(op, const, const, sizeof(P_A) != sizeof(P_B), __VA_ARGS__) \
  PYGPU_COMPLEX_WIDEN(op, const, const volatile, true, __VA_ARGS__)              \
  PYGPU_COMPLEX_WIDEN(op, const volatile, const, true, __VA_ARGS__)              \
  PYGPU_COMPLEX_WIDEN(op, const volatile, const volatile, true, __VA_ARGS__)
#define PYGPU_COMPLEX_VOLATILE_SCALAR(op, result)                                             \
  template <class P_T, class P_S>                                                             \
  PYGPU_COMPLEX typename complex_detail::P_only_if<complex_detail::P_is_scalar<P_S>::P_value, \
                                                   result>::P_type                            \
  operator op(const volatile complex<P_T>& P_z, P_S P_s) {                                    \
    return complex<P_T>(P_z) op P_s;                                                          \
  }                                                                                           \
  template <class P_T, class P_S>                                                             \
  PYGPU_COMPLEX typename complex_detail::P_only_if<complex_detail::P_is_scalar<P_S>::P_value, \
                                                   result>::P_type                            \
  operator op(P_S P_s, const volatile complex<P_T>& P_z) {                                    \
    return P_s op complex<P_T>(P_z);                                                          \
  }
PYGPU_COMPLEX_PAIRS(+, complex<typename complex_detail::P_wider<P_A, P_B>::P_type>)
PYGPU_COMPLEX_PAIRS(-, complex<typename complex_detail::P_wider<P_A, P_B>::P_type>)
PYGPU_COMPLEX_PAIRS(*, complex<typename complex_detail::P_wider<P_A, P_B>::P_type>)
PYGPU_COMPLEX_PAIRS(/, complex<typename complex_detail::P_wider<P_A, P_B>::P_type>)
PYGPU_COMPLEX_PAIRS(==, bool)
PYGPU_COMPLEX_PAIRS(!=, bool)
PYGPU_COMPLEX_VOLATILE_SCALAR(+, complex<P_T>)
PYGPU_COMPLEX_VOLATILE_SCALAR(-, complex<P_T>)
PYGPU_COMPLEX_VOLATILE_SCALAR(*, complex<P_T>)
PYGPU_COMPLEX_VOLATILE_SCALAR(/, complex<P_T>)
#undef PYGPU_COMPLEX_VOLATILE_SCALAR
#undef PYGPU_COMPLEX_PAIRS
#undef PYGPU_COMPLEX_WIDEN

template <class P_T>
PYGPU_COMPLEX complex<P_T> operator-(const volatile complex<P_T>& P_z) {
  return -complex<P_T>(P_z);
}

}  // namespace pycuda
