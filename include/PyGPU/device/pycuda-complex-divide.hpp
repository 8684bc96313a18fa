// Division of pycuda::complex that survives tiny, huge, infinite and zero operands.
//
// The fast path is R. L. Smith, "Algorithm 116: Complex division", CACM 5 (1962). Where its
// denominator leaves the safe range, both operands are scaled to order one by powers of two, and
// infinities follow C99 Annex G.
#pragma once

namespace pycuda {

namespace complex_detail {

template <class T>
struct range;
template <>
struct range<float> {
  static __host__ __device__ constexpr float largest() { return 3.40282347e+38f; }
  static __host__ __device__ constexpr float safe_high() { return 1.0e+36f; }
  static __host__ __device__ constexpr float safe_low() { return 1.0e-30f; }
  static __host__ __device__ constexpr float epsilon() { return 1.1920929e-7f; }
};
template <>
struct range<double> {
  static __host__ __device__ constexpr double largest() { return 1.7976931348623157e+308; }
  static __host__ __device__ constexpr double safe_high() { return 1.0e+306; }
  static __host__ __device__ constexpr double safe_low() { return 1.0e-290; }
  static __host__ __device__ constexpr double epsilon() { return 2.220446049250313e-16; }
};

template <class T>
PYGPU_COMPLEX bool is_nan(T x) {
  return x != x;
}
template <class T>
PYGPU_COMPLEX bool is_inf(T x) {
  return ::fabs(x) > range<T>::largest();
}
template <class T>
PYGPU_COMPLEX bool is_finite(T x) {
  return ::fabs(x) <= range<T>::largest();
}
template <class T>
PYGPU_COMPLEX T infinity() {
  return T(HUGE_VAL);
}
template <class T>
PYGPU_COMPLEX T max_abs(const complex<T>& z) {
  return ::fmax(::fabs(z._M_re), ::fabs(z._M_im));
}
template <class T>
PYGPU_COMPLEX T one_if_inf(T x) {
  return ::copysign(is_inf(x) ? T(1) : T(0), x);
}
template <class T>
PYGPU_COMPLEX complex<T> scaled(const complex<T>& z, int exponent) {
  return complex<T>(::scalbn(z._M_re, exponent), ::scalbn(z._M_im, exponent));
}

template <class T>
PYGPU_COMPLEX complex<T> plain_quotient(const complex<T>& a, const complex<T>& b) {
  const T square = b._M_re * b._M_re + b._M_im * b._M_im;
  return complex<T>((a._M_re * b._M_re + a._M_im * b._M_im) / square,
                    (a._M_im * b._M_re - a._M_re * b._M_im) / square);
}

template <class T>
__host__ __device__ complex<T> careful_quotient(const complex<T>& a, const complex<T>& b) {
  const T numerator = max_abs(a), denominator = max_abs(b);
  const bool a_is_nan = is_nan(a._M_re) || is_nan(a._M_im);
  const bool b_is_nan = is_nan(b._M_re) || is_nan(b._M_im);
  if (denominator == T(0) && !b_is_nan) {
    const T factor = ::copysign(infinity<T>(), b._M_re);
    return complex<T>(factor * a._M_re, factor * a._M_im);
  }
  if (is_inf(numerator) && !is_inf(denominator) && !b_is_nan) {
    const complex<T> direction = plain_quotient(
        complex<T>(one_if_inf(a._M_re), one_if_inf(a._M_im)), scaled(b, -::ilogb(denominator)));
    return complex<T>(infinity<T>() * direction._M_re, infinity<T>() * direction._M_im);
  }
  if (is_inf(denominator) && !is_inf(numerator) && !a_is_nan) {
    const T re = one_if_inf(b._M_re), im = one_if_inf(b._M_im);
    return complex<T>(T(0) * (a._M_re * re + a._M_im * im), T(0) * (a._M_im * re - a._M_re * im));
  }
  if (a_is_nan || b_is_nan || is_inf(numerator)) return plain_quotient(a, b);
  if (numerator == T(0)) return plain_quotient(a, scaled(b, -::ilogb(denominator)));
  const int down = ::ilogb(denominator), up = ::ilogb(numerator);
  const complex<T> quotient = plain_quotient(scaled(a, -up), scaled(b, -down));
  // In two steps: 2^(up - down) alone may leave the range where the product does not.
  const int half = (up - down) / 2;
  return scaled(scaled(quotient, half), up - down - half);
}

}  // namespace complex_detail

template <class T>
PYGPU_COMPLEX complex<T> operator/(const complex<T>& a, const complex<T>& b) {
  typedef complex_detail::range<T> range;
  const bool re_is_larger = ::fabs(b._M_re) >= ::fabs(b._M_im);
  const T large = re_is_larger ? b._M_re : b._M_im, small = re_is_larger ? b._M_im : b._M_re;
  const T ratio = small / large, denominator = large + small * ratio;
  const T size = ::fabs(denominator), top = complex_detail::max_abs(a);
  // Negated, so that a NaN takes the careful path as well.
  if (!(size > range::safe_low() && size < range::safe_high() &&
        (top == T(0) || top > range::safe_low()) && top < range::safe_high() &&
        (small == T(0) || ::fabs(ratio) > range::safe_low())))
    return complex_detail::careful_quotient(a, b);
  if (re_is_larger) {
    return complex<T>((a._M_re + a._M_im * ratio) / denominator,
                      (a._M_im - a._M_re * ratio) / denominator);
  }
  return complex<T>((a._M_re * ratio + a._M_im) / denominator,
                    (a._M_im * ratio - a._M_re) / denominator);
}

}  // namespace pycuda
