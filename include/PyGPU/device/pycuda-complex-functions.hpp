// Functions of pycuda::complex: parts, exponential, logarithm, powers and roots, the circular and
// hyperbolic functions. Branch cuts and signed zeros follow C99 Annex G.
#pragma once

namespace pycuda {

namespace complex_detail {

PYGPU_COMPLEX void sine_cosine(float x, float* sine, float* cosine) { ::sincosf(x, sine, cosine); }
PYGPU_COMPLEX void sine_cosine(double x, double* sine, double* cosine) {
  ::sincos(x, sine, cosine);
}

// e^x (cos y, sin y) / 2^halvings without an early overflow of e^x.
template <class T>
PYGPU_COMPLEX complex<T> spiral(T x, T y, int halvings) {
  if (y == T(0)) return complex<T>(::scalbn(::exp(x), -halvings), y);
  if (x < T(0) && is_inf(x) && !is_finite(y)) return complex<T>(T(0), T(0));
  if (x > T(0) && is_inf(x) && !is_finite(y)) return complex<T>(x, y - y);
  T sine, cosine;
  sine_cosine(y, &sine, &cosine);
  // The exponent is split between two factors.
  const T factor = ::exp(x / T(2));
  const T rest = ::scalbn(factor, -halvings);
  if (!is_inf(factor) && factor > T(16)) {
    return complex<T>(cosine * rest * factor, sine * rest * factor);
  }
  const T whole = ::scalbn(::exp(x), -halvings);
  return complex<T>(whole * cosine, whole * sine);
}

template <class T>
PYGPU_COMPLEX complex<T> times_i(const complex<T>& z) {
  return complex<T>(-z._M_im, z._M_re);
}
template <class T>
PYGPU_COMPLEX complex<T> over_i(const complex<T>& z) {
  return complex<T>(z._M_im, -z._M_re);
}

}  // namespace complex_detail

template <class T>
PYGPU_COMPLEX T real(const complex<T>& z) {
  return z._M_re;
}
template <class T>
PYGPU_COMPLEX T imag(const complex<T>& z) {
  return z._M_im;
}
template <class T>
PYGPU_COMPLEX T abs(const complex<T>& z) {
  return ::hypot(z._M_re, z._M_im);
}
template <class T>
PYGPU_COMPLEX T arg(const complex<T>& z) {
  return ::atan2(z._M_im, z._M_re);
}
template <class T>
PYGPU_COMPLEX T norm(const complex<T>& z) {
  return z._M_re * z._M_re + z._M_im * z._M_im;
}
template <class T>
PYGPU_COMPLEX complex<T> conj(const complex<T>& z) {
  return complex<T>(z._M_re, -z._M_im);
}
template <class T>
PYGPU_COMPLEX complex<T> polar(const T& radius, const T& angle = T(0)) {
  T sine, cosine;
  complex_detail::sine_cosine(angle, &sine, &cosine);
  return complex<T>(radius * cosine, radius * sine);
}
template <class T>
PYGPU_COMPLEX bool isnan(const complex<T>& z) {
  return complex_detail::is_nan(z._M_re) || complex_detail::is_nan(z._M_im);
}
template <class T>
PYGPU_COMPLEX bool isinf(const complex<T>& z) {
  return complex_detail::is_inf(z._M_re) || complex_detail::is_inf(z._M_im);
}
template <class T>
PYGPU_COMPLEX bool isfinite(const complex<T>& z) {
  return complex_detail::is_finite(z._M_re) && complex_detail::is_finite(z._M_im);
}
template <class T>
PYGPU_COMPLEX complex<T> proj(const complex<T>& z) {
  if (!isinf(z)) return z;
  return complex<T>(complex_detail::infinity<T>(), ::copysign(T(0), z._M_im));
}

template <class T>
PYGPU_COMPLEX complex<T> exp(const complex<T>& z) {
  return complex_detail::spiral(z._M_re, z._M_im, 0);
}

template <class T>
PYGPU_COMPLEX complex<T> log(const complex<T>& z) {
  const T x = ::fabs(z._M_re), y = ::fabs(z._M_im);
  const T large = ::fmax(x, y), small = ::fmin(x, y);
  T logarithm;
  if (large > T(0.5) && large < T(2) &&
      !isnan(z)) {  // |z| near one: its distance from one is what counts
    logarithm = ::log1p((large - T(1)) * (large + T(1)) + small * small) / T(2);
  } else if (large > complex_detail::range<T>::safe_high() && !isinf(z)) {
    logarithm = ::log(::hypot(x / T(4), y / T(4))) + T(1.3862943611198906188);
  } else if (large < complex_detail::range<T>::safe_low() && large > T(0)) {  // 2^-64
    logarithm = ::log(::hypot(::scalbn(x, 64), ::scalbn(y, 64))) - T(44.361419555836499803);
  } else {
    logarithm = ::log(::hypot(x, y));
  }
  return complex<T>(logarithm, arg(z));
}
template <class T>
PYGPU_COMPLEX complex<T> log10(const complex<T>& z) {
  return log(z) * T(0.43429448190325182765);
}

template <class T>
PYGPU_COMPLEX complex<T> sqrt(const complex<T>& z) {
  typedef complex_detail::range<T> range;
  const T x = z._M_re, y = z._M_im;
  if (x == T(0) && y == T(0)) return complex<T>(T(0), y);
  if (complex_detail::is_inf(y)) return complex<T>(complex_detail::infinity<T>(), y);
  if (complex_detail::is_inf(x)) {
    const T other = complex_detail::is_nan(y) ? y : T(0);
    if (x > T(0)) return complex<T>(x, complex_detail::is_nan(y) ? y : ::copysign(other, y));
    return complex<T>(other, ::copysign(-x, y));
  }
  // A fourth of a huge number, 4^k times a tiny one: the root changes by exactly 2^-1 or 2^k.
  const T top = complex_detail::max_abs(z);
  const int shift = top > range::safe_high() ? -1 : top < range::safe_low() ? 28 : 0;
  const complex<T> w = shift ? complex_detail::scaled(z, 2 * shift) : z;
  const T root = ::sqrt((::fabs(w._M_re) + ::hypot(w._M_re, w._M_im)) / T(2));
  const T other = w._M_im / (T(2) * root);
  const complex<T> result =
      x >= T(0) ? complex<T>(root, other) : complex<T>(::fabs(other), ::copysign(root, y));
  return shift ? complex_detail::scaled(result, -shift) : result;
}

template <class T>
PYGPU_COMPLEX complex<T> sinh(const complex<T>& z) {
  const T x = z._M_re, y = z._M_im;
  if (y == T(0)) return complex<T>(::sinh(x), y);
  if (::fabs(x) > T(40)) {  // both halves of the hyperbola are e^|x| / 2 here
    const complex<T> grown = complex_detail::spiral(T(::fabs(x)), y, 1);
    return complex<T>(::copysign(T(1), x) * grown._M_re, grown._M_im);
  }
  if (x == T(0) && !complex_detail::is_finite(y)) return complex<T>(x, y - y);
  T sine, cosine;
  complex_detail::sine_cosine(y, &sine, &cosine);
  return complex<T>(::sinh(x) * cosine, ::cosh(x) * sine);
}
template <class T>
PYGPU_COMPLEX complex<T> cosh(const complex<T>& z) {
  const T x = z._M_re, y = z._M_im;
  if (y == T(0)) return complex<T>(::cosh(x), ::copysign(T(1), x) * y);
  if (::fabs(x) > T(40)) {
    const complex<T> grown = complex_detail::spiral(T(::fabs(x)), y, 1);
    return complex<T>(grown._M_re, ::copysign(T(1), x) * grown._M_im);
  }
  if (x == T(0) && !complex_detail::is_finite(y)) return complex<T>(y - y, x);
  T sine, cosine;
  complex_detail::sine_cosine(y, &sine, &cosine);
  return complex<T>(::cosh(x) * cosine, ::sinh(x) * sine);
}
// After W. Kahan, "Branch cuts for complex elementary functions" (1987).
template <class T>
PYGPU_COMPLEX complex<T> tanh(const complex<T>& z) {
  const T x = z._M_re, y = z._M_im;
  if (y == T(0)) return complex<T>(::tanh(x), y);
  if (x == T(0) && !complex_detail::is_finite(y)) return complex<T>(x, y - y);
  if (::fabs(x) > T(20) && (complex_detail::is_finite(y) || complex_detail::is_inf(x))) {
    const T wave = complex_detail::is_finite(y) ? ::sin(y) * ::cos(y) : T(0);
    return complex<T>(::copysign(T(1), x), T(4) * wave * ::exp(T(-2) * ::fabs(x)));
  }
  const T tangent = ::tan(y), square = T(1) + tangent * tangent;
  const T s = ::sinh(x), c = ::sqrt(T(1) + s * s);
  if (complex_detail::is_inf(tangent)) return complex<T>(c / s, T(1) / tangent);
  const T denominator = T(1) + square * s * s;
  return complex<T>(square * c * s / denominator, tangent / denominator);
}

template <class T>
PYGPU_COMPLEX complex<T> sin(const complex<T>& z) {
  return complex_detail::over_i(sinh(complex_detail::times_i(z)));
}
template <class T>
PYGPU_COMPLEX complex<T> cos(const complex<T>& z) {
  return cosh(complex_detail::times_i(z));
}
template <class T>
PYGPU_COMPLEX complex<T> tan(const complex<T>& z) {
  return complex_detail::over_i(tanh(complex_detail::times_i(z)));
}

}  // namespace pycuda
