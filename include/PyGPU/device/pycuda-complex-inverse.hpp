// Powers of pycuda::complex and the inverse circular and hyperbolic functions.
//
// The inverse functions follow W. Kahan, "Branch cuts for complex elementary functions" (1987),
// with logarithms where his products would overflow.
#pragma once

namespace pycuda {

namespace complex_detail {

template <class P_T>
PYGPU_COMPLEX bool P_beyond_products(const complex<P_T>& P_z) {
  return P_max_abs(P_z) > P_T(1) / P_range<P_T>::P_epsilon();
}
// log(2 |z|)
template <class P_T>
PYGPU_COMPLEX P_T P_log_twice(const complex<P_T>& P_z) {
  return log(P_z)._M_re + P_T(0.69314718055994530942);
}

template <class P_T>
__host__ __device__ complex<P_T> P_integer_power(complex<P_T> P_base, long long P_exponent) {
  // NumPy multiplies these without a factor of 1, which would turn parts of infinities into NaN.
  if (P_exponent == 1) return P_base;
  if (P_exponent == 2) return P_base * P_base;
  if (P_exponent == 3) return P_base * (P_base * P_base);
  unsigned long long P_n = P_exponent < 0 ? 0ull - P_exponent : P_exponent;
  complex<P_T> P_result(P_T(1), P_T(0));
  for (; P_n != 0; P_n >>= 1) {
    if (P_n & 1) P_result = P_result * P_base;
    if (P_n > 1) P_base = P_base * P_base;
  }
  return P_exponent < 0 ? P_T(1) / P_result : P_result;
}

}  // namespace complex_detail

template <class P_T>
PYGPU_COMPLEX complex<P_T> pow(const complex<P_T>& P_base, const complex<P_T>& P_exponent) {
  if (P_exponent == P_T(0)) return complex<P_T>(P_T(1), P_T(0));
  if (P_base == P_T(0)) {
    if (P_exponent._M_re > P_T(0)) return complex<P_T>(P_T(0), P_T(0));
    const P_T P_nothing = P_T(NAN);
    return complex<P_T>(P_nothing, P_nothing);
  }
  return exp(P_exponent * log(P_base));
}
template <class P_T, class P_S>
PYGPU_COMPLEX typename complex_detail::P_only_if<complex_detail::P_is_scalar<P_S>::P_value,
                                                 complex<P_T>>::P_type
pow(const complex<P_T>& P_base, P_S P_exponent) {
  const P_T P_power = P_T(P_exponent);
  // Small integer powers by multiplication: exact where the products are exact.
  if (::fabs(P_power) <= P_T(64) && P_power == ::trunc(P_power)) {
    return complex_detail::P_integer_power(P_base, static_cast<long long>(P_power));
  }
  if (P_base == P_T(0)) return P_power > P_T(0) ? complex<P_T>(P_T(0), P_T(0)) : P_T(1) / P_base;
  const complex<P_T> P_logarithm = log(P_base);
  return exp(complex<P_T>(P_power * P_logarithm._M_re, P_power * P_logarithm._M_im));
}
template <class P_T, class P_S>
PYGPU_COMPLEX typename complex_detail::P_only_if<complex_detail::P_is_scalar<P_S>::P_value,
                                                 complex<P_T>>::P_type
pow(P_S P_base, const complex<P_T>& P_exponent) {
  if (!(P_T(P_base) > P_T(0))) return pow(complex<P_T>(P_T(P_base)), P_exponent);
  const P_T P_logarithm = ::log(P_T(P_base));
  return exp(complex<P_T>(P_exponent._M_re * P_logarithm, P_exponent._M_im * P_logarithm));
}
template <class P_A, class P_B,
          typename complex_detail::P_only_if<sizeof(P_A) != sizeof(P_B)>::P_type = 0>
PYGPU_COMPLEX complex<typename complex_detail::P_wider<P_A, P_B>::P_type> pow(
    const complex<P_A>& P_base, const complex<P_B>& P_exponent) {
  typedef complex<typename complex_detail::P_wider<P_A, P_B>::P_type> P_wide;
  return pow(P_wide(P_base), P_wide(P_exponent));
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> asinh(const complex<P_T>& P_z) {
  const P_T P_x = P_z._M_re, P_y = P_z._M_im;
  if (P_y == P_T(0)) return complex<P_T>(::asinh(P_x), P_y);
  if (complex_detail::P_beyond_products(P_z)) {
    return complex<P_T>(::copysign(complex_detail::P_log_twice(P_z), P_x),
                        ::atan2(P_y, P_T(::fabs(P_x))));
  }
  const complex<P_T> P_minus = sqrt(complex<P_T>(P_T(1) + P_y, -P_x)),
                     P_plus = sqrt(complex<P_T>(P_T(1) - P_y, P_x));
  return complex<P_T>(::asinh(P_plus._M_im * P_minus._M_re - P_plus._M_re * P_minus._M_im),
                      ::atan2(P_y, P_minus._M_re * P_plus._M_re - P_minus._M_im * P_plus._M_im));
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> acos(const complex<P_T>& P_z) {
  const P_T P_x = P_z._M_re, P_y = P_z._M_im;
  if (P_x == P_T(0) && complex_detail::P_is_nan(P_y))
    return complex<P_T>(P_T(1.5707963267948966192), P_y);
  if (complex_detail::P_beyond_products(P_z)) {
    return complex<P_T>(::atan2(P_T(::fabs(P_y)), P_x),
                        -::copysign(complex_detail::P_log_twice(P_z), P_y));
  }
  const complex<P_T> P_minus = sqrt(complex<P_T>(P_T(1) - P_x, -P_y)),
                     P_plus = sqrt(complex<P_T>(P_T(1) + P_x, P_y));
  return complex<P_T>(P_T(2) * ::atan2(P_minus._M_re, P_plus._M_re),
                      ::asinh(P_plus._M_re * P_minus._M_im - P_plus._M_im * P_minus._M_re));
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> acosh(const complex<P_T>& P_z) {
  const P_T P_x = P_z._M_re, P_y = P_z._M_im;
  if (P_x == P_T(0) && complex_detail::P_is_nan(P_y))
    return complex<P_T>(P_y, P_T(1.5707963267948966192));
  if (complex_detail::P_beyond_products(P_z)) {
    return complex<P_T>(complex_detail::P_log_twice(P_z), ::atan2(P_y, P_x));
  }
  const complex<P_T> P_minus = sqrt(complex<P_T>(P_x - P_T(1), P_y)),
                     P_plus = sqrt(complex<P_T>(P_x + P_T(1), P_y));
  return complex<P_T>(::asinh(P_minus._M_re * P_plus._M_re + P_minus._M_im * P_plus._M_im),
                      P_T(2) * ::atan2(P_minus._M_im, P_plus._M_re));
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> atanh(const complex<P_T>& P_z) {
  const P_T P_x = ::fabs(P_z._M_re), P_y = P_z._M_im;
  if (isnan(P_z) && !complex_detail::P_is_inf(P_y)) {
    return complex<P_T>(
        P_x == P_T(0) || complex_detail::P_is_inf(P_x) ? ::copysign(P_T(0), P_z._M_re) : P_x + P_y,
        P_x + P_y);
  }
  if (complex_detail::P_beyond_products(P_z)) {
    const P_T P_re = isinf(P_z) ? P_T(0) : (P_T(1) / complex<P_T>(P_x, P_y))._M_re;
    return complex<P_T>(::copysign(P_re, P_z._M_re), ::copysign(P_T(1.5707963267948966192), P_y));
  }
  const P_T P_gap = P_T(1) - P_x;
  const bool P_at_pole = P_gap == P_T(0) && ::fabs(P_y) < complex_detail::P_range<P_T>::P_epsilon();
  const P_T P_re = P_at_pole ? (P_T(0.69314718055994530942) - ::log(P_T(::fabs(P_y)))) / P_T(2)
                             : ::log1p(P_T(4) * P_x / (P_gap * P_gap + P_y * P_y)) / P_T(4);
  const P_T P_im = ::atan2(P_T(2) * P_y, P_gap * (P_T(1) + P_x) - P_y * P_y) / P_T(2);
  return complex<P_T>(::copysign(P_re, P_z._M_re), P_im);
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> asin(const complex<P_T>& P_z) {
  return complex_detail::P_over_i(asinh(complex_detail::P_times_i(P_z)));
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> atan(const complex<P_T>& P_z) {
  return complex_detail::P_over_i(atanh(complex_detail::P_times_i(P_z)));
}

}  // namespace pycuda
