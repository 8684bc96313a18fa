// Functions of pycuda::complex: parts, exponential, logarithm, powers and roots, circular and
// hyperbolic functions. Branch cuts and signed zeros follow C99 Annex G.
#pragma once

namespace pycuda {

namespace complex_detail {

PYGPU_COMPLEX void P_sine_cosine(float P_x, float* P_sine, float* P_cosine) {
  ::sincosf(P_x, P_sine, P_cosine);
}
PYGPU_COMPLEX void P_sine_cosine(double P_x, double* P_sine, double* P_cosine) {
  ::sincos(P_x, P_sine, P_cosine);
}

// e^x (cos y, sin y) / 2^halvings, computed so that e^x does not overflow early.
template <class P_T>
PYGPU_COMPLEX complex<P_T> P_spiral(P_T P_x, P_T P_y, int P_halvings) {
  if (P_y == P_T(0)) return complex<P_T>(::scalbn(::exp(P_x), -P_halvings), P_y);
  if (P_x < P_T(0) && P_is_inf(P_x) && !P_is_finite(P_y)) return complex<P_T>(P_T(0), P_T(0));
  if (P_x > P_T(0) && P_is_inf(P_x) && !P_is_finite(P_y)) return complex<P_T>(P_x, P_y - P_y);
  P_T P_sine, P_cosine;
  P_sine_cosine(P_y, &P_sine, &P_cosine);
  // Split the exponent between two factors.
  const P_T P_factor = ::exp(P_x / P_T(2));
  const P_T P_rest = ::scalbn(P_factor, -P_halvings);
  if (!P_is_inf(P_factor) && P_factor > P_T(16)) {
    return complex<P_T>(P_cosine * P_rest * P_factor, P_sine * P_rest * P_factor);
  }
  const P_T P_whole = ::scalbn(::exp(P_x), -P_halvings);
  return complex<P_T>(P_whole * P_cosine, P_whole * P_sine);
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> P_times_i(const complex<P_T>& P_z) {
  return complex<P_T>(-P_z._M_im, P_z._M_re);
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> P_over_i(const complex<P_T>& P_z) {
  return complex<P_T>(P_z._M_im, -P_z._M_re);
}

}  // namespace complex_detail

template <class P_T>
PYGPU_COMPLEX P_T real(const complex<P_T>& P_z) {
  return P_z._M_re;
}
template <class P_T>
PYGPU_COMPLEX P_T imag(const complex<P_T>& P_z) {
  return P_z._M_im;
}
template <class P_T>
PYGPU_COMPLEX P_T abs(const complex<P_T>& P_z) {
  return ::hypot(P_z._M_re, P_z._M_im);
}
template <class P_T>
PYGPU_COMPLEX P_T arg(const complex<P_T>& P_z) {
  return ::atan2(P_z._M_im, P_z._M_re);
}
template <class P_T>
PYGPU_COMPLEX P_T norm(const complex<P_T>& P_z) {
  return P_z._M_re * P_z._M_re + P_z._M_im * P_z._M_im;
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> conj(const complex<P_T>& P_z) {
  return complex<P_T>(P_z._M_re, -P_z._M_im);
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> polar(const P_T& P_radius, const P_T& P_angle = P_T(0)) {
  P_T P_sine, P_cosine;
  complex_detail::P_sine_cosine(P_angle, &P_sine, &P_cosine);
  return complex<P_T>(P_radius * P_cosine, P_radius * P_sine);
}
template <class P_T>
PYGPU_COMPLEX bool isnan(const complex<P_T>& P_z) {
  return complex_detail::P_is_nan(P_z._M_re) || complex_detail::P_is_nan(P_z._M_im);
}
template <class P_T>
PYGPU_COMPLEX bool isinf(const complex<P_T>& P_z) {
  return complex_detail::P_is_inf(P_z._M_re) || complex_detail::P_is_inf(P_z._M_im);
}
template <class P_T>
PYGPU_COMPLEX bool isfinite(const complex<P_T>& P_z) {
  return complex_detail::P_is_finite(P_z._M_re) && complex_detail::P_is_finite(P_z._M_im);
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> proj(const complex<P_T>& P_z) {
  if (!isinf(P_z)) return P_z;
  return complex<P_T>(complex_detail::P_infinity<P_T>(), ::copysign(P_T(0), P_z._M_im));
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> exp(const complex<P_T>& P_z) {
  return complex_detail::P_spiral(P_z._M_re, P_z._M_im, 0);
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> log(const complex<P_T>& P_z) {
  const P_T P_x = ::fabs(P_z._M_re), P_y = ::fabs(P_z._M_im);
  const P_T P_large = ::fmax(P_x, P_y), P_small = ::fmin(P_x, P_y);
  P_T P_logarithm;
  if (P_large > P_T(0.5) && P_large < P_T(2) &&
      !isnan(P_z)) {  // |z| is near one: its distance from one matters
    P_logarithm = ::log1p((P_large - P_T(1)) * (P_large + P_T(1)) + P_small * P_small) / P_T(2);
  } else if (P_large > complex_detail::P_range<P_T>::P_safe_high() && !isinf(P_z)) {
    P_logarithm = ::log(::hypot(P_x / P_T(4), P_y / P_T(4))) + P_T(1.3862943611198906188);
  } else if (P_large < complex_detail::P_range<P_T>::P_safe_low() && P_large > P_T(0)) {  // 2^-64
    P_logarithm = ::log(::hypot(::scalbn(P_x, 64), ::scalbn(P_y, 64))) - P_T(44.361419555836499803);
  } else {
    P_logarithm = ::log(::hypot(P_x, P_y));
  }
  return complex<P_T>(P_logarithm, arg(P_z));
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> log10(const complex<P_T>& P_z) {
  return log(P_z) * P_T(0.43429448190325182765);
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> sqrt(const complex<P_T>& P_z) {
  typedef complex_detail::P_range<P_T> P_range;
  const P_T P_x = P_z._M_re, P_y = P_z._M_im;
  if (P_x == P_T(0) && P_y == P_T(0)) return complex<P_T>(P_T(0), P_y);
  if (complex_detail::P_is_inf(P_y)) return complex<P_T>(complex_detail::P_infinity<P_T>(), P_y);
  if (complex_detail::P_is_inf(P_x)) {
    const P_T P_other = complex_detail::P_is_nan(P_y) ? P_y : P_T(0);
    if (P_x > P_T(0))
      return complex<P_T>(P_x, complex_detail::P_is_nan(P_y) ? P_y : ::copysign(P_other, P_y));
    return complex<P_T>(P_other, ::copysign(-P_x, P_y));
  }
  // Scale: a fourth of a huge number, or 4^k times a tiny one. The root changes by exactly 2^-1 or
  // 2^k.
  const P_T P_top = complex_detail::P_max_abs(P_z);
  const int P_shift = P_top > P_range::P_safe_high() ? -1 : P_top < P_range::P_safe_low() ? 28 : 0;
  const complex<P_T> P_w = P_shift ? complex_detail::P_scaled(P_z, 2 * P_shift) : P_z;
  const P_T P_root = ::sqrt((::fabs(P_w._M_re) + ::hypot(P_w._M_re, P_w._M_im)) / P_T(2));
  const P_T P_other = P_w._M_im / (P_T(2) * P_root);
  const complex<P_T> P_result = P_x >= P_T(0)
                                    ? complex<P_T>(P_root, P_other)
                                    : complex<P_T>(::fabs(P_other), ::copysign(P_root, P_y));
  return P_shift ? complex_detail::P_scaled(P_result, -P_shift) : P_result;
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> sinh(const complex<P_T>& P_z) {
  const P_T P_x = P_z._M_re, P_y = P_z._M_im;
  if (P_y == P_T(0)) return complex<P_T>(::sinh(P_x), P_y);
  if (::fabs(P_x) > P_T(40)) {  // both halves of the hyperbolic function are e^|x| / 2 here
    const complex<P_T> P_grown = complex_detail::P_spiral(P_T(::fabs(P_x)), P_y, 1);
    return complex<P_T>(::copysign(P_T(1), P_x) * P_grown._M_re, P_grown._M_im);
  }
  if (P_x == P_T(0) && !complex_detail::P_is_finite(P_y)) return complex<P_T>(P_x, P_y - P_y);
  P_T P_sine, P_cosine;
  complex_detail::P_sine_cosine(P_y, &P_sine, &P_cosine);
  return complex<P_T>(::sinh(P_x) * P_cosine, ::cosh(P_x) * P_sine);
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> cosh(const complex<P_T>& P_z) {
  const P_T P_x = P_z._M_re, P_y = P_z._M_im;
  if (P_y == P_T(0)) return complex<P_T>(::cosh(P_x), ::copysign(P_T(1), P_x) * P_y);
  if (::fabs(P_x) > P_T(40)) {
    const complex<P_T> P_grown = complex_detail::P_spiral(P_T(::fabs(P_x)), P_y, 1);
    return complex<P_T>(P_grown._M_re, ::copysign(P_T(1), P_x) * P_grown._M_im);
  }
  if (P_x == P_T(0) && !complex_detail::P_is_finite(P_y)) return complex<P_T>(P_y - P_y, P_x);
  P_T P_sine, P_cosine;
  complex_detail::P_sine_cosine(P_y, &P_sine, &P_cosine);
  return complex<P_T>(::cosh(P_x) * P_cosine, ::sinh(P_x) * P_sine);
}
// Algorithm of W. Kahan, "Branch cuts for complex elementary functions" (1987).
template <class P_T>
PYGPU_COMPLEX complex<P_T> tanh(const complex<P_T>& P_z) {
  const P_T P_x = P_z._M_re, P_y = P_z._M_im;
  if (P_y == P_T(0)) return complex<P_T>(::tanh(P_x), P_y);
  if (P_x == P_T(0) && !complex_detail::P_is_finite(P_y)) return complex<P_T>(P_x, P_y - P_y);
  if (::fabs(P_x) > P_T(20) &&
      (complex_detail::P_is_finite(P_y) || complex_detail::P_is_inf(P_x))) {
    const P_T P_wave = complex_detail::P_is_finite(P_y) ? ::sin(P_y) * ::cos(P_y) : P_T(0);
    return complex<P_T>(::copysign(P_T(1), P_x), P_T(4) * P_wave * ::exp(P_T(-2) * ::fabs(P_x)));
  }
  const P_T P_tangent = ::tan(P_y), P_square = P_T(1) + P_tangent * P_tangent;
  const P_T P_s = ::sinh(P_x), P_c = ::sqrt(P_T(1) + P_s * P_s);
  if (complex_detail::P_is_inf(P_tangent)) return complex<P_T>(P_c / P_s, P_T(1) / P_tangent);
  const P_T P_denominator = P_T(1) + P_square * P_s * P_s;
  return complex<P_T>(P_square * P_c * P_s / P_denominator, P_tangent / P_denominator);
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> sin(const complex<P_T>& P_z) {
  return complex_detail::P_over_i(sinh(complex_detail::P_times_i(P_z)));
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> cos(const complex<P_T>& P_z) {
  return cosh(complex_detail::P_times_i(P_z));
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> tan(const complex<P_T>& P_z) {
  return complex_detail::P_over_i(tanh(complex_detail::P_times_i(P_z)));
}

}  // namespace pycuda
