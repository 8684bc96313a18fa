// Functions that compilers make vectors of: no branches, no calls. PyGPU's own kernels find them
// before those of PyGPU/_kernels/text/device_functions.py; users' kernels have the C library's.
//
// Those of float are computed in double and rounded once: within 0.51 units in the last place.
// Those of double are within one unit. No operation depends on another place's, so a number has the
// same result in every loop. The polynomials interpolate at Chebyshev's nodes.
#pragma once

#include "intrinsics.h"
#include "qualifiers.h"

namespace PyGPU {
namespace host {

constexpr double huge_value = __builtin_huge_val();
constexpr double log_of_2 = 0.6931471805599453, log2_of_e = 1.4426950408889634;
// The first part's products with whole numbers up to 2^20 are exact.
constexpr double log_of_2_high = 0.693147180369123816490, log_of_2_low = 1.90821492927058770002e-10;

// The nearest integer to a number below 2^51, and the same in the low bits of a word.
struct Whole {
  double value;
  unsigned long long word;
};
__forceinline__ Whole nearest_whole(double x) {
  constexpr double shift = 6755399441055744.0;  // 2^52 + 2^51: no bits are left for a fraction
  const double shifted = x + shift;
  return {shifted - shift, bits<unsigned long long>(shifted)};
}
__forceinline__ double power_of_two(unsigned long long exponent) {  // of a normal number
  return bits<double>((exponent + 1023) << 52);
}
__forceinline__ double within(double x, double limit) {  // a NaN stays
  const double low = x < -limit ? -limit : x;
  return low > limit ? limit : low;
}

// 2^x as scale * (1 + rest), where that fits a float; beyond, what no float holds. To 2^-37.
struct Power {
  double scale, rest;
  double value() const { return scale + scale * rest; }
  double minus_one() const { return (scale - 1) + scale * rest; }
};
__forceinline__ Power exp2_parts(double x) {
  const double t = within(x, 300);
  const Whole k = nearest_whole(t);
  const double f = t - k.value;
  double q = 1.3250876278904456e-06;
  q = q * f + 1.530380284962428e-05;
  q = q * f + 0.0001540347496519024;
  q = q * f + 0.0013333478154201467;
  q = q * f + 0.0096181291354023;
  q = q * f + 0.055504109065657;
  q = q * f + 0.24022650695888328;
  q = q * f + 0.6931471805568075;
  return {power_of_two(k.word), f * q};
}
__forceinline__ Power exp_parts(double x) { return exp2_parts(x * log2_of_e); }

// A positive normal number as 2^power * (1 + over), from the root of 1/2 to that of 2.
struct Logarithm {
  double power, over;
};
__forceinline__ Logarithm log_parts(double x) {
  constexpr unsigned long long root = 0x3fe6a09e667f3bcdull;  // of 1/2
  const unsigned long long moved = bits<unsigned long long>(x) + (0x3ff0000000000000ull - root);
  const double biased = bits<double>(moved >> 52 | 0x4330000000000000ull);  // 2^52 + that
  const double m = bits<double>((moved & 0xfffffffffffffull) + root);
  return {biased - 4503599627371519.0, m - 1};  // 2^52 + 1023
}
// The same of subnormal numbers too.
__forceinline__ Logarithm log_parts_of_any(double x) {
  const bool is_small = x < 2.2250738585072014e-308;
  const Logarithm parts = log_parts(is_small ? x * 18014398509481984.0 : x);  // 2^54
  return {is_small ? parts.power - 54 : parts.power, parts.over};
}
// log(1 + f), by the series of the inverse hyperbolic tangent of f / (2 + f). To 2^-37 of it.
__forceinline__ double log1p_near(double f) {
  const double s = f / (2 + f), z = s * s;
  double q = 0.23616988018825041;
  q = q * z + 0.2853501866115047;
  q = q * z + 0.4000038518245024;
  q = q * z + 0.6666666524498865;
  q = q * z + 2.0000000000083777;
  return s * q;
}
// What a logarithm is where that of positive finite numbers is `log`.
__forceinline__ double log_anywhere(double x, double log) {
  const double positive = x < huge_value ? log : x;  // infinity and NaN are their own
  const double other = x == 0 ? -huge_value : __builtin_nan("");
  return x <= 0 ? other : positive;
}
__forceinline__ float log_of(float value, double of_two, double of_e) {
  const double x = value;
  const Logarithm parts = log_parts(x);
  return float(log_anywhere(x, parts.power * of_two + log1p_near(parts.over) * of_e));
}

}  // namespace host
}  // namespace PyGPU

__forceinline__ float P_exp(float x) { return float(PyGPU::host::exp_parts(x).value()); }
__forceinline__ float P_exp2(float x) { return float(PyGPU::host::exp2_parts(x).value()); }
__forceinline__ float P_expm1(float x) {
  const float result = float(PyGPU::host::exp_parts(x).minus_one());
  return x == 0 ? x : result;  // with its sign
}
__forceinline__ float P_log(float x) { return PyGPU::host::log_of(x, PyGPU::host::log_of_2, 1); }
__forceinline__ float P_log2(float x) { return PyGPU::host::log_of(x, 1, PyGPU::host::log2_of_e); }
__forceinline__ float P_log10(float x) {
  return PyGPU::host::log_of(x, 0.3010299956639812, 0.4342944819032518);
}
__forceinline__ float P_log1p(float value) {
  using namespace PyGPU::host;
  const double x = value, sum = 1 + x;
  const Logarithm parts = log_parts(sum);
  const bool is_near = __builtin_fabs(x) < 0.25;
  const double near = log1p_near(is_near ? x : parts.over);
  const double far = log_anywhere(sum, parts.power * log_of_2 + near);
  return x == 0 ? value : float(is_near ? near : far);
}
__forceinline__ float P_sinh(float x) {
  const double m = PyGPU::host::exp_parts(__builtin_fabs(x)).minus_one();  // 1 - e^-x: m / (m + 1)
  return __builtin_copysignf(float(0.5 * (m + m / (m + 1))), x);
}
__forceinline__ float P_cosh(float x) {
  const double power = PyGPU::host::exp_parts(x).value();
  return float(0.5 * (power + 1 / power));
}
__forceinline__ float P_tanh(float x) {
  const double m = PyGPU::host::exp_parts(2.0 * x).minus_one();
  return x == 0 ? x : float(m / (m + 2));
}

__forceinline__ float P_hypot(float a, float b) {
  const double x = a, y = b, length = __builtin_sqrt(x * x + y * y);
  const double wide = __builtin_fabs(y) == PyGPU::host::huge_value ? __builtin_fabs(y) : length;
  return float(__builtin_fabs(x) == PyGPU::host::huge_value ? __builtin_fabs(x) : wide);
}

namespace PyGPU {
namespace host {
// x^y, where that of |x| is `power`: of a negative base odd exponents change the sign, and
// fractions have no result. Selects stand one behind the other: of combined conditions g++ makes no
// vectors.
__forceinline__ double power_of_any(double x, double y, double power, bool is_whole, bool is_even) {
  const double size = __builtin_fabs(x), whole = is_even ? power : -power;
  const double of_finite = size == 0 ? power : __builtin_nan("");
  const double fraction = size == huge_value ? power : of_finite;
  const double of_negative = is_whole ? whole : fraction;
  const double result = __builtin_copysign(1.0, x) < 0 ? of_negative : power;
  const double of_any = x == 1 ? 1 : result;
  return y == 0 ? 1 : of_any;
}
}  // namespace host
}  // namespace PyGPU

__forceinline__ float P_pow(float base, float exponent) {
  using namespace PyGPU::host;
  const double x = base, y = exponent, size = __builtin_fabs(x), length = __builtin_fabs(y);
  const Logarithm parts = log_parts(size);
  const double log = log_anywhere(size, parts.power + log1p_near(parts.over) * log2_of_e);
  const double product = y * log, of_one = y == y ? 0 : y;
  const double power = exp2_parts(size == 1 ? of_one : product).value();
  const double counted = length < 33554432 ? length : 0, paired = 0.5 * counted;  // larger: even
  return float(power_of_any(x, y, power, nearest_whole(counted).value == counted,
                            nearest_whole(paired).value == paired));
}

namespace PyGPU {
namespace host {
// e^(r + more) for an r within half of log 2.
__forceinline__ double exp_near(double r, double more) {
  double p = 2.0914707069612355e-09;
  p = p * r + 2.510524515390137e-08;
  p = p * r + 2.7557273594799413e-07;
  p = p * r + 2.755725533255441e-06;
  p = p * r + 2.480158732558584e-05;
  p = p * r + 0.00019841269874873975;
  p = p * r + 0.0013888888888883737;
  p = p * r + 0.00833333333332612;
  p = p * r + 0.04166666666666667;
  p = p * r + 0.1666666666666667;
  p = p * r + 0.5;
  const double sum = 1 + r, lost = (1 - sum) + r, bent = r * r * p;
  return sum + (lost + (bent + more * (sum + bent)));
}
// e^(x + more). 2^k in two factors, so that results next to zero and infinity are rounded once.
__forceinline__ double exp_of(double x, double more) {
  const double t = within(x, 800);
  const Whole k = nearest_whole(t * log2_of_e);
  const double far = t - k.value * log_of_2_high, r = far - k.value * log_of_2_low;
  const double rest = ((far - r) - k.value * log_of_2_low) + more;
  const Whole first = nearest_whole(0.5 * k.value);
  return exp_near(r, rest) * power_of_two(first.word) * power_of_two(k.word - first.word);
}
}  // namespace host
}  // namespace PyGPU

__forceinline__ double P_exp(double x) { return PyGPU::host::exp_of(x, 0); }
__forceinline__ double P_log(double x) {
  using namespace PyGPU::host;
  const Logarithm parts = log_parts_of_any(x);
  const double k = parts.power, f = parts.over;
  const double s = f / (2 + f), z = s * s, square = 0.5 * f * f;
  double q = 0.13087236243871003;
  q = q * z + 0.1326871478713654;
  q = q * z + 0.15386241882168694;
  q = q * z + 0.1818179560005562;
  q = q * z + 0.2222222239208907;
  q = q * z + 0.28571428570801954;
  q = q * z + 0.4000000000000088;
  q = q * z + 0.6666666666666666;
  const double rest = s * (square + z * q) + k * log_of_2_low;
  return log_anywhere(x, k * log_of_2_high - ((square - rest) - f));
}

// Powers of double, by a logarithm that is the sum of two numbers. Where a product and a sum are
// not one instruction, the C library's are faster.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
namespace PyGPU {
namespace host {
struct Exact {
  double high, low;
};
__forceinline__ Exact exact_product(double a, double b) {
  const double high = a * b;
  return {high, __builtin_fma(a, b, -high)};
}
__forceinline__ Exact log_exactly(double x) {
  const Logarithm parts = log_parts_of_any(x);
  const double k = parts.power, f = parts.over;
  // s = f / (2 + f), z = s s; the series of the inverse hyperbolic tangent from z^2 on.
  const double over = 2 + f, s = f / over;
  const double s_low = (__builtin_fma(-s, over, f) - s * (f - (over - 2))) / over;
  const double z = s * s, z_low = __builtin_fma(s, s, -z) + 2 * s * s_low;
  double q = 2.0 / 27;
  q = q * z + 2.0 / 25;
  q = q * z + 2.0 / 23;
  q = q * z + 2.0 / 21;
  q = q * z + 2.0 / 19;
  q = q * z + 2.0 / 17;
  q = q * z + 2.0 / 15;
  q = q * z + 2.0 / 13;
  q = q * z + 2.0 / 11;
  q = q * z + 2.0 / 9;
  q = q * z + 2.0 / 7;
  q = (q * z + 2.0 / 5) * z;
  const double third = 0.6666666666666666, both = third + q;
  const double both_low = (third - both) + q + 3.700743415417188e-17;
  const Exact cube = exact_product(s, z), rest = exact_product(cube.high, both);
  const double rest_low =
      rest.low + cube.high * both_low + (cube.low + s * z_low + s_low * z) * both;
  // k log 2, whose first part has no more bits than leave the product exact; then what is smaller.
  const double far = k * log_of_2_high, near = 2 * s;
  const double sum = far + near, lost = (far - sum) + near, all = sum + rest.high;
  const double small = ((sum - all) + rest.high) + lost + (rest_low + 2 * s_low + k * log_of_2_low);
  const double high = all + small;
  return {high, (all - high) + small};
}
}  // namespace host
}  // namespace PyGPU

__forceinline__ double P_pow(double x, double y) {
  using namespace PyGPU::host;
  const double size = __builtin_fabs(x), length = __builtin_fabs(y);
  const Exact log = log_exactly(size), product = exact_product(y, log_anywhere(size, log.high));
  const double low = __builtin_fabs(product.high) < 800 ? product.low + y * log.low : 0;
  const double of_one = y == y ? 1 : y;
  const double power = size == 1 ? of_one : exp_of(product.high, low);
  const double counted = length < 9007199254740992.0 ? length : 0, half = 0.5 * counted;
  return power_of_any(x, y, power, __builtin_floor(counted) == counted,
                      __builtin_floor(half) == half);
}
#endif

// Of integers, by a division of more bits than they have: it is never rounded up to the next whole
// number, so that cutting it off is right. The divisor is neither 0 nor -1.
__forceinline__ int P_quotient(int a, int b) { return int(double(a) / double(b)); }
__forceinline__ unsigned P_quotient(unsigned a, unsigned b) {
  return unsigned(static_cast<long long>(double(a) / double(b)));
}
