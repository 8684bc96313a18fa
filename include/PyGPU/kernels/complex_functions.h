// Overloads of device functions for complex numbers. See functions.h.
#pragma once

template <class R>
__device__ pycuda::complex<R> P_power(const pycuda::complex<R>& a, const pycuda::complex<R>& b) {
  return b.imag() == R(0) && a != R(0) ? pycuda::pow(a, b.real()) : pycuda::pow(a, b);
}

template <class R>
__device__ pycuda::complex<R> P_negative(const pycuda::complex<R>& a) {
  return -a;
}

template <class R>
__device__ R P_absolute(const pycuda::complex<R>& a) {
  return P_hypot(a.real(), a.imag());
}

template <class R>
__device__ pycuda::complex<R> P_reciprocal(const pycuda::complex<R>& a) {
  return R(1) / a;
}

template <class R>
__device__ pycuda::complex<R> P_sign(const pycuda::complex<R>& a) {
  const R size = pycuda::abs(a), x = a.real(), y = a.imag();
  if (isinf(size) && isinf(x) != isinf(y))
    return isinf(x) ? pycuda::complex<R>(copysign(R(1), x), R(0))
                    : pycuda::complex<R>(R(0), copysign(R(1), y));
  return size == R(0) ? pycuda::complex<R>(R(0)) : a / size;
}

template <class R>
__device__ pycuda::complex<R> P_hidden(const pycuda::complex<R>& a) {
  return pycuda::complex<R>(P_unseen(a.real()), P_unseen(a.imag()));
}

template <class R>
__device__ pycuda::complex<R> P_times(const pycuda::complex<R>& a, double b) {
  return pycuda::complex<R>(R(a.real() * b), R(a.imag() * b));
}

template <class R>
__device__ bool P_isinf(const pycuda::complex<R>& a) {
  return isinf(a);
}

template <class R>
__device__ pycuda::complex<R> P_rint(const pycuda::complex<R>& a) {
  return pycuda::complex<R>(rint(a.real()), rint(a.imag()));
}

// log|1 + z| without cancellation in the sum; near -1, 1 + z keeps the digits that log needs.
template <class R>
__device__ pycuda::complex<R> P_log1p(const pycuda::complex<R>& a) {
  const R x = a.real(), y = a.imag(), large = R(1152921504606846976.0);  // 2^60
  if ((x > R(-0.25) || (x > R(-0.5) && fabs(y) < R(0.5))) && x < large && fabs(y) < large)
    return pycuda::complex<R>(log1p(x * (R(2) + x) + y * y) / R(2), atan2(y, R(1) + x));
  return log(pycuda::complex<R>(R(1) + x, y));
}

// exp(x) cos(y) - 1 = expm1(x) cos(y) - (1 - cos(y)).
template <class R>
__device__ pycuda::complex<R> P_expm1(const pycuda::complex<R>& a) {
  const R x = a.real();
  if (!(x > R(-1) && x < R(64))) {
    const pycuda::complex<R> power = exp(a);
    return pycuda::complex<R>(power.real() - R(1), power.imag());
  }
  R sine, cosine;
  pycuda::complex_detail::P_sine_cosine(a.imag(), &sine, &cosine);
  const R more = expm1(x);
  const R gap = cosine > R(0) ? sine * sine / (R(1) + cosine) : R(1) - cosine;
  return pycuda::complex<R>(more * cosine - gap, (more + R(1)) * sine);
}
