// Powers of pycuda::complex and the inverse circular and hyperbolic functions.
//
// The inverse functions are those of W. Kahan, "Branch cuts for complex elementary functions"
// (1987), with logarithms where his products would overflow.
#pragma once

namespace pycuda {

namespace complex_detail {

template <class T>
PYGPU_COMPLEX bool beyond_products(const complex<T>& z) {
  return max_abs(z) > T(1) / range<T>::epsilon();
}
// log(2 |z|)
template <class T>
PYGPU_COMPLEX T log_twice(const complex<T>& z) {
  return log(z)._M_re + T(0.69314718055994530942);
}

template <class T>
__host__ __device__ complex<T> integer_power(complex<T> base, long long exponent) {
  unsigned long long n = exponent < 0 ? 0ull - exponent : exponent;
  complex<T> result(T(1), T(0));
  for (; n != 0; n >>= 1) {
    if (n & 1) result = result * base;
    if (n > 1) base = base * base;
  }
  return exponent < 0 ? T(1) / result : result;
}

}  // namespace complex_detail

template <class T>
PYGPU_COMPLEX complex<T> pow(const complex<T>& base, const complex<T>& exponent) {
  if (exponent == T(0)) return complex<T>(T(1), T(0));
  if (base == T(0)) {
    if (exponent._M_re > T(0)) return complex<T>(T(0), T(0));
    const T nothing = T(NAN);
    return complex<T>(nothing, nothing);
  }
  return exp(exponent * log(base));
}
template <class T, class S>
PYGPU_COMPLEX
    typename complex_detail::only_if<complex_detail::is_scalar<S>::value, complex<T>>::type
    pow(const complex<T>& base, S exponent) {
  const T power = T(exponent);
  // Small whole powers by multiplication: exact where the products are.
  if (::fabs(power) <= T(64) && power == ::trunc(power)) {
    return complex_detail::integer_power(base, static_cast<long long>(power));
  }
  if (base == T(0)) return power > T(0) ? complex<T>(T(0), T(0)) : T(1) / base;
  const complex<T> logarithm = log(base);
  return exp(complex<T>(power * logarithm._M_re, power * logarithm._M_im));
}
template <class T, class S>
PYGPU_COMPLEX
    typename complex_detail::only_if<complex_detail::is_scalar<S>::value, complex<T>>::type
    pow(S base, const complex<T>& exponent) {
  if (!(T(base) > T(0))) return pow(complex<T>(T(base)), exponent);
  const T logarithm = ::log(T(base));
  return exp(complex<T>(exponent._M_re * logarithm, exponent._M_im * logarithm));
}
template <class A, class B, typename complex_detail::only_if<sizeof(A) != sizeof(B)>::type = 0>
PYGPU_COMPLEX complex<typename complex_detail::wider<A, B>::type> pow(const complex<A>& base,
                                                                      const complex<B>& exponent) {
  typedef complex<typename complex_detail::wider<A, B>::type> wide;
  return pow(wide(base), wide(exponent));
}

template <class T>
PYGPU_COMPLEX complex<T> asinh(const complex<T>& z) {
  const T x = z._M_re, y = z._M_im;
  if (y == T(0)) return complex<T>(::asinh(x), y);
  if (complex_detail::beyond_products(z)) {
    return complex<T>(::copysign(complex_detail::log_twice(z), x), ::atan2(y, T(::fabs(x))));
  }
  const complex<T> minus = sqrt(complex<T>(T(1) + y, -x)), plus = sqrt(complex<T>(T(1) - y, x));
  return complex<T>(::asinh(plus._M_im * minus._M_re - plus._M_re * minus._M_im),
                    ::atan2(y, minus._M_re * plus._M_re - minus._M_im * plus._M_im));
}
template <class T>
PYGPU_COMPLEX complex<T> acos(const complex<T>& z) {
  const T x = z._M_re, y = z._M_im;
  if (x == T(0) && complex_detail::is_nan(y)) return complex<T>(T(1.5707963267948966192), y);
  if (complex_detail::beyond_products(z)) {
    return complex<T>(::atan2(T(::fabs(y)), x), -::copysign(complex_detail::log_twice(z), y));
  }
  const complex<T> minus = sqrt(complex<T>(T(1) - x, -y)), plus = sqrt(complex<T>(T(1) + x, y));
  return complex<T>(T(2) * ::atan2(minus._M_re, plus._M_re),
                    ::asinh(plus._M_re * minus._M_im - plus._M_im * minus._M_re));
}
template <class T>
PYGPU_COMPLEX complex<T> acosh(const complex<T>& z) {
  const T x = z._M_re, y = z._M_im;
  if (complex_detail::beyond_products(z)) {
    return complex<T>(complex_detail::log_twice(z), ::atan2(y, x));
  }
  const complex<T> minus = sqrt(complex<T>(x - T(1), y)), plus = sqrt(complex<T>(x + T(1), y));
  return complex<T>(::asinh(minus._M_re * plus._M_re + minus._M_im * plus._M_im),
                    T(2) * ::atan2(minus._M_im, plus._M_re));
}
template <class T>
PYGPU_COMPLEX complex<T> atanh(const complex<T>& z) {
  const T x = ::fabs(z._M_re), y = z._M_im;
  if (isnan(z) && !complex_detail::is_inf(y)) {
    return complex<T>(x == T(0) || complex_detail::is_inf(x) ? ::copysign(T(0), z._M_re) : x + y,
                      x + y);
  }
  if (complex_detail::beyond_products(z)) {
    const T re = isinf(z) ? T(0) : (T(1) / complex<T>(x, y))._M_re;
    return complex<T>(::copysign(re, z._M_re), ::copysign(T(1.5707963267948966192), y));
  }
  const T gap = T(1) - x;
  const bool at_pole = gap == T(0) && ::fabs(y) < complex_detail::range<T>::epsilon();
  const T re = at_pole ? (T(0.69314718055994530942) - ::log(T(::fabs(y)))) / T(2)
                       : ::log1p(T(4) * x / (gap * gap + y * y)) / T(4);
  const T im = ::atan2(T(2) * y, gap * (T(1) + x) - y * y) / T(2);
  return complex<T>(::copysign(re, z._M_re), im);
}

template <class T>
PYGPU_COMPLEX complex<T> asin(const complex<T>& z) {
  return complex_detail::over_i(asinh(complex_detail::times_i(z)));
}
template <class T>
PYGPU_COMPLEX complex<T> atan(const complex<T>& z) {
  return complex_detail::over_i(atanh(complex_detail::times_i(z)));
}

}  // namespace pycuda
