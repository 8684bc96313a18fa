// Device functions that the expressions of PyGPU/_kernels/operations.py call. A kernel includes
// only those that it needs, because every line costs compile time: blank lines separate the
// functions, and _kernels/text/device_functions.py finds them by name.
//
// Quotients round towards minus infinity and remainders have the divisor's sign, as in Python.
// Dividing an integer by zero gives 0, as in NumPy. Integers wrap on overflow.
#pragma once

// A multiple of b, an even number; halves go to the even multiple. Sizes are unsigned, because
// signed overflow is undefined.
template <class P_T>
__device__ inline P_T P_round_tens(P_T a, P_T b) {
  typedef unsigned long long P_size;
  const P_size size = a < P_T(0) ? 0 - P_size(a) : P_size(a), step = P_size(b);
  const P_size rest = size % step, down = size - rest;
  const bool is_up = rest > step - rest || (rest == step - rest && (down / step) % 2);
  const P_size found = is_up ? down + step : down;
  return P_T(a < P_T(0) ? 0 - found : found);
}

template <bool>
struct P_tag {};

template <class T>
struct P_is_float {
  static const bool value = false;
};
template <>
struct P_is_float<float> {
  static const bool value = true;
};
template <>
struct P_is_float<double> {
  static const bool value = true;
};

// For integers. It avoids `a < 0`, of which compilers warn for unsigned types.
template <class T>
__device__ bool P_below_zero(T a) {
  return a < T(1) && a != T(0);
}

template <class A, class B>
__device__ bool P_same(A a, B b) {
  return P_below_zero(a) == P_below_zero(b) && (unsigned long long)a == (unsigned long long)b;
}

template <class A, class B>
__device__ bool P_less(A a, B b) {
  if (P_below_zero(a) != P_below_zero(b)) return P_below_zero(a);
  return (unsigned long long)a < (unsigned long long)b;
}

template <class T>
__device__ T P_quotient(T a, T b) {
  return T(a / b);
}

// An approximate division of short integers, whose error is at most 2^-21. The quotient is
// increased by more than that error, but by less than the distance of two quotients, 2^-16.
__device__ inline int P_short_quotient(int a, int b) {
  return int(__fdividef(float(a), float(b)) * (1 + 1 / 262144.0f));
}

// Not below the exact quotient if that is an integer: the relative error is at most 2^-22.
__device__ inline float P_near_quotient(float a, float b) {
  const float q = __fdividef(a, b);
  return q * (q < 0.0f ? 1 - 1 / 2097152.0f : 1 + 1 / 2097152.0f);
}
__device__ inline double P_near_quotient(double a, double b) { return a / b; }

template <class T>
struct P_division {
  T quotient, remainder;
};
template <class T>
__device__ P_division<T> P_short_divmod(int a, int b) {
  const int q = P_short_quotient(a, b), r = a - q * b;
  const bool is_low = r != 0 && (r ^ b) < 0;
  return P_division<T>{b == 0 ? T(0) : T(q - is_low), b == 0 ? T(0) : T(is_low ? r + b : r)};
}
template <class T>
__device__ P_division<T> P_divmod_as(T a, T b, P_tag<false>) {
  if (sizeof(T) < 4) return P_short_divmod<T>(int(a), int(b));
  if (b == T(0)) return P_division<T>{T(0), T(0)};
  if (T(0) > T(-1) && b == T(-1)) return P_division<T>{T(0u - (unsigned long long)a), T(0)};
  const T q = P_quotient(a, b), r = T(a - q * b);
  const bool is_low = r != T(0) && P_below_zero(r) != P_below_zero(b);
  return P_division<T>{T(q - is_low), T(is_low ? r + b : r)};
}
template <class T>
__device__ P_division<T> P_divmod_as(T a, T b, P_tag<true>) {
  // Below 2^21 or 2^50 the whole part of the quotient is at most one too large, or else the rest is
  // larger than the divisor; it is exact. NumPy's quotient, which is found as below, may be off
  // beyond. Of what is not finite neither comparison is true.
  const T near = floor(P_near_quotient(a, b)), rest = fma(-near, b, a);
  if (fabs(near) < T(sizeof(T) == 4 ? 2097152.0 : 1125899906842624.0) && fabs(rest) < fabs(b)) {
    const bool is_over = rest != T(0) && (rest < T(0)) != (b < T(0));
    return P_division<T>{is_over ? near - T(1) : near, rest == T(0) ? copysign(T(0), b)
                                                       : is_over    ? rest + b
                                                                    : rest};
  }
  const T r = fmod(a, b);
  if (b == T(0)) return P_division<T>{a / b, r};
  const bool is_low = r != T(0) && (b < T(0)) != (r < T(0));
  T q = (a - r) / b;
  if (is_low) q -= T(1);
  const T whole = floor(q), nearest = q - whole > T(0.5) ? whole + T(1) : whole;
  return P_division<T>{q == T(0) ? copysign(T(0), copysign(T(1), a) * b) : nearest,
                       r == T(0) ? copysign(T(0), b)
                       : is_low  ? r + b
                                 : r};
}
template <class T>
__device__ P_division<T> P_divmod(T a, T b) {
  return P_divmod_as(a, b, P_tag<P_is_float<T>::value>());
}

template <class T>
__device__ T P_floor_divide(T a, T b) {
  return P_divmod(a, b).quotient;
}

template <class T>
__device__ T P_remainder(T a, T b) {
  return P_divmod(a, b).remainder;
}

template <class T>
__device__ T P_fmod(T a, T b) {  // of integers
  if (sizeof(T) < 4) return b == T(0) ? T(0) : T(a - P_short_quotient(int(a), int(b)) * int(b));
  return b == T(0) || (T(0) > T(-1) && b == T(-1)) ? T(0) : T(a - P_quotient(a, b) * b);
}
__device__ inline float P_fmod(float a, float b) { return fmodf(a, b); }
__device__ inline double P_fmod(double a, double b) { return fmod(a, b); }

template <class N, class T>
__device__ T P_power_in(T a, T b) {
  N result = 1, base = N(a), left = N(b);
  for (; left; left >>= 1, base *= base)
    if (left & 1) result *= base;
  return T(result);
}
template <class T>
__device__ T P_power(T a, T b) {  // of integers: exact, by squaring
  if (P_below_zero(b)) return T(a == T(1) ? 1 : a == T(-1) ? (b % T(2) == T(0) ? 1 : -1) : 0);
  return sizeof(T) == 8 ? P_power_in<unsigned long long>(a, b) : P_power_in<unsigned>(a, b);
}
__device__ __forceinline__ float P_power(float a, float b) { return P_pow(a, b); }
__device__ __forceinline__ double P_power(double a, double b) { return P_pow(a, b); }

// For float, rounded once. For double, two roundings stay within one unit in the last place.
__device__ inline float P_cube(float a) { return float(double(a) * a * a); }
__device__ inline double P_cube(double a) { return a * a * a; }

template <class T>
__device__ T P_left_shift(T a, T b) {
  return (unsigned long long)b < 8 * sizeof(T) ? T((unsigned long long)a << b) : T(0);
}

template <class T>
__device__ T P_right_shift(T a, T b) {
  if ((unsigned long long)b < 8 * sizeof(T)) return T(a >> b);
  return T(P_below_zero(a) ? -1 : 0);
}

template <class T>
__device__ T P_negative(T a) {
  return T(0ull - (unsigned long long)a);
}
__device__ inline float P_negative(float a) { return -a; }
__device__ inline double P_negative(double a) { return -a; }

template <class T>
__device__ T P_absolute(T a) {
  return a < T(0) ? T(0ull - (unsigned long long)a) : a;
}
__device__ inline float P_absolute(float a) { return fabsf(a); }
__device__ inline double P_absolute(double a) { return fabs(a); }

template <class T>
__device__ T P_reciprocal(T a) {  // of integers
  return a == T(1) || (T(0) > T(-1) && a == T(-1)) ? a : T(0);
}
__device__ inline float P_reciprocal(float a) { return 1.0f / a; }
__device__ inline double P_reciprocal(double a) { return 1.0 / a; }

// NaN is its own sign.
template <class T>
__device__ T P_sign(T a) {
  return a == T(0) ? T(0) : a > T(0) ? T(1) : a < T(0) ? T(-1) : a;
}

template <class T>
__device__ bool P_isinf(T a) {
  return a == a && a - a != a - a;
}

// maximum and minimum return NaN if any operand is NaN; fmax and fmin ignore NaN. If both are
// NaN, the result is the first. Compilers vectorize two consecutive choices, but not one choice
// with a condition in two parts.
template <class T>
__device__ T P_maximum(T a, T b) {
  const T one = a >= b ? a : b;
  return a != a ? a : one;
}

template <class T>
__device__ T P_minimum(T a, T b) {
  const T one = a <= b ? a : b;
  return a != a ? a : one;
}

template <class T>
__device__ T P_fmax(T a, T b) {
  const T one = a >= b ? a : b;
  return b != b ? a : one;
}

template <class T>
__device__ T P_fmin(T a, T b) {
  const T one = a <= b ? a : b;
  return b != b ? a : one;
}

template <class T>
__device__ T P_heaviside(T a, T b) {
  return a == T(0) ? b : a > T(0) ? T(1) : a < T(0) ? T(0) : a;
}

// log(e^a + e^b) without overflow. Equal infinities have the gap 0.
template <class T>
__device__ T P_logaddexp(T a, T b) {
  const T gap = a == b ? T(0) : a - b;
  return (gap > T(0) ? a : b) + P_log1p(P_exp(gap > T(0) ? -gap : gap));
}

template <class T>
__device__ T P_logaddexp2(T a, T b) {
  const T gap = a == b ? T(0) : a - b;
  const T more = T(1.4426950408889634074) * P_log1p(P_exp2(gap > T(0) ? -gap : gap));
  return (gap > T(0) ? a : b) + (gap == T(0) ? T(1) : more);  // exact, if the sum is fused as well
}

// The absolute value of an integer, which the integer's own type may be unable to hold.
template <class T>
__device__ unsigned long long P_magnitude(T a) {
  return P_below_zero(a) ? 0ull - (unsigned long long)a : (unsigned long long)a;
}

template <class T>
__device__ T P_gcd(T a, T b) {
  unsigned long long x = P_magnitude(a), y = P_magnitude(b);
  while (y != 0) {
    const unsigned long long r = x % y;
    x = y;
    y = r;
  }
  return T(x);
}

template <class T>
__device__ T P_lcm(T a, T b) {
  const unsigned long long divisor = P_magnitude(P_gcd(a, b));
  return T(divisor == 0 ? 0 : P_magnitude(a) / divisor * P_magnitude(b));
}

// The distance to the next number away from zero, with the sign of a; positive for zero.
template <class T>
__device__ T P_spacing(T a) {
  return nextafter(a, a < T(0) ? T(-INFINITY) : T(INFINITY)) - a;
}

template <class T>
__device__ T P_as_half(T a) {
  return T(__half2float(P_half(a)));
}

// The distance from an absolute value to the next larger one.
__device__ inline float P_half_step(float a) {
  int power;
  frexp(a, &power);
  if (fabsf(a) >= 65504.0f) return INFINITY;
  return ldexp(1.0f, a == 0.0f || power < -13 ? -24 : power - 11);
}

// A factor of 0.9999 changes the exponent for powers of two only.
__device__ inline float P_half_nextafter(float a, float b) {
  if (a == b || a != a) return a;
  if (b != b) return b;
  if (a == 0.0f || (a < b) == (a > 0.0f)) return a + copysign(P_half_step(a), b - a);
  return a - a == 0.0f ? a - copysign(P_half_step(a * 0.9999f), a) : copysign(65504.0f, a);
}

// The distance upwards: for this dtype alone, NumPy's spacing does not point away from zero.
__device__ inline float P_half_spacing(float a) {
  return a - a == 0.0f ? P_half_nextafter(a, INFINITY) - a : a - a;
}

// sin(pi a) / (pi a). Where pi a is 0, adding 1 to both gives 1 without a branch.
template <class T>
__device__ T P_sinc(T a) {
  const T angle = T(3.14159265358979323846) * a, add = T(angle == T(0));
  return (P_sin(angle) + add) / (angle + add);
}

// The exponent as an int, limited to a range beyond which every result is zero or infinite.
__device__ inline int P_exponent(double n) { return n > 5000 ? 5000 : n > -5000 ? int(n) : -5000; }

template <class T>
__device__ T P_fraction(T a) {
  int power;
  return frexp(a, &power);
}

template <class T>
__device__ int P_power_of_two(T a) {
  int power = 0;
  frexp(a, &power);
  return a - a == T(0) ? power : 0;
}

template <class T>
__device__ T P_rest(T a) {  // behind the point, with the sign of the whole
  return copysign(a == a && a - a != a - a ? T(0) : a - trunc(a), a);
}
