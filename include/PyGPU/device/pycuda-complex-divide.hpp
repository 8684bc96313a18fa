// Division of pycuda::complex that stays correct for tiny, huge, infinite and zero operands.
//
// The fast path is R. L. Smith, "Algorithm 116: Complex division", CACM 5 (1962). If its
// denominator leaves the safe range, both operands are scaled to order one by powers of two.
// Infinities follow C99 Annex G.
#pragma once

namespace pycuda {

namespace complex_detail {

template <class P_T>
struct P_range;
template <>
struct P_range<float> {
  static __host__ __device__ constexpr float P_largest() { return 3.40282347e+38f; }
  static __host__ __device__ constexpr float P_safe_high() { return 1.0e+36f; }
  static __host__ __device__ constexpr float P_safe_low() { return 1.0e-30f; }
  static __host__ __device__ constexpr float P_epsilon() { return 1.1920929e-7f; }
};
template <>
struct P_range<double> {
  static __host__ __device__ constexpr double P_largest() { return 1.7976931348623157e+308; }
  static __host__ __device__ constexpr double P_safe_high() { return 1.0e+306; }
  static __host__ __device__ constexpr double P_safe_low() { return 1.0e-290; }
  static __host__ __device__ constexpr double P_epsilon() { return 2.220446049250313e-16; }
};

template <class P_T>
PYGPU_COMPLEX bool P_is_nan(P_T P_x) {
  return P_x != P_x;
}
template <class P_T>
PYGPU_COMPLEX bool P_is_inf(P_T P_x) {
  return ::fabs(P_x) > P_range<P_T>::P_largest();
}
template <class P_T>
PYGPU_COMPLEX bool P_is_finite(P_T P_x) {
  return ::fabs(P_x) <= P_range<P_T>::P_largest();
}
template <class P_T>
PYGPU_COMPLEX P_T P_infinity() {
  return P_T(HUGE_VAL);
}
template <class P_T>
PYGPU_COMPLEX P_T P_max_abs(const complex<P_T>& P_z) {
  const P_T P_x = ::fabs(P_z._M_re), P_y = ::fabs(P_z._M_im);
  return P_x > P_y || P_y != P_y ? P_x : P_y;  // C++ compilers call a function for fmax
}
template <class P_T>
PYGPU_COMPLEX P_T P_one_if_inf(P_T P_x) {
  return ::copysign(P_is_inf(P_x) ? P_T(1) : P_T(0), P_x);
}
template <class P_T>
PYGPU_COMPLEX complex<P_T> P_scaled(const complex<P_T>& P_z, int P_exponent) {
  return complex<P_T>(::scalbn(P_z._M_re, P_exponent), ::scalbn(P_z._M_im, P_exponent));
}

template <class P_T>
PYGPU_COMPLEX complex<P_T> P_plain_quotient(const complex<P_T>& P_a, const complex<P_T>& P_b) {
  const P_T P_square = P_b._M_re * P_b._M_re + P_b._M_im * P_b._M_im;
  return complex<P_T>((P_a._M_re * P_b._M_re + P_a._M_im * P_b._M_im) / P_square,
                      (P_a._M_im * P_b._M_re - P_a._M_re * P_b._M_im) / P_square);
}

template <class P_T>
__host__ __device__ complex<P_T> P_careful_quotient(const complex<P_T>& P_a,
                                                    const complex<P_T>& P_b) {
  const P_T P_numerator = P_max_abs(P_a), P_denominator = P_max_abs(P_b);
  const bool P_a_is_nan = P_is_nan(P_a._M_re) || P_is_nan(P_a._M_im);
  const bool P_b_is_nan = P_is_nan(P_b._M_re) || P_is_nan(P_b._M_im);
  if (P_denominator == P_T(0) && !P_b_is_nan) {
    const P_T P_factor = ::copysign(P_infinity<P_T>(), P_b._M_re);
    return complex<P_T>(P_factor * P_a._M_re, P_factor * P_a._M_im);
  }
  if (P_is_inf(P_numerator) && !P_is_inf(P_denominator) && !P_b_is_nan) {
    const complex<P_T> P_direction =
        P_plain_quotient(complex<P_T>(P_one_if_inf(P_a._M_re), P_one_if_inf(P_a._M_im)),
                         P_scaled(P_b, -::ilogb(P_denominator)));
    return complex<P_T>(P_infinity<P_T>() * P_direction._M_re,
                        P_infinity<P_T>() * P_direction._M_im);
  }
  if (P_is_inf(P_denominator) && !P_is_inf(P_numerator) && !P_a_is_nan) {
    const P_T P_re = P_one_if_inf(P_b._M_re), P_im = P_one_if_inf(P_b._M_im);
    return complex<P_T>(P_T(0) * (P_a._M_re * P_re + P_a._M_im * P_im),
                        P_T(0) * (P_a._M_im * P_re - P_a._M_re * P_im));
  }
  if (P_a_is_nan || P_b_is_nan || P_is_inf(P_numerator)) return P_plain_quotient(P_a, P_b);
  if (P_numerator == P_T(0)) return P_plain_quotient(P_a, P_scaled(P_b, -::ilogb(P_denominator)));
  const int P_down = ::ilogb(P_denominator), P_up = ::ilogb(P_numerator);
  const complex<P_T> P_quotient = P_plain_quotient(P_scaled(P_a, -P_up), P_scaled(P_b, -P_down));
  // Scale in two steps: 2^(up - down) alone may leave the range where the product does not.
  const int half = (P_up - P_down) / 2;
  return P_scaled(P_scaled(P_quotient, half), P_up - P_down - half);
}

}  // namespace complex_detail

template <class P_T>
PYGPU_COMPLEX complex<P_T> operator/(const complex<P_T>& P_a, const complex<P_T>& P_b) {
  typedef complex_detail::P_range<P_T> P_range;
  const bool P_re_is_larger = ::fabs(P_b._M_re) >= ::fabs(P_b._M_im);
  const P_T P_large = P_re_is_larger ? P_b._M_re : P_b._M_im,
            P_small = P_re_is_larger ? P_b._M_im : P_b._M_re;
  const P_T P_ratio = P_small / P_large, P_denominator = P_large + P_small * P_ratio;
  const P_T P_size = ::fabs(P_denominator), P_top = complex_detail::P_max_abs(P_a);
  // Negated, so that a NaN also takes the careful path.
  if (!(P_size > P_range::P_safe_low() && P_size < P_range::P_safe_high() &&
        (P_top == P_T(0) || P_top > P_range::P_safe_low()) && P_top < P_range::P_safe_high() &&
        (P_small == P_T(0) || ::fabs(P_ratio) > P_range::P_safe_low())))
    return complex_detail::P_careful_quotient(P_a, P_b);
  const P_T P_scale = P_T(1) / P_denominator;
  if (P_re_is_larger) {
    return complex<P_T>((P_a._M_re + P_a._M_im * P_ratio) * P_scale,
                        (P_a._M_im - P_a._M_re * P_ratio) * P_scale);
  }
  return complex<P_T>((P_a._M_re * P_ratio + P_a._M_im) * P_scale,
                      (P_a._M_im * P_ratio - P_a._M_re) * P_scale);
}

}  // namespace pycuda
