// Conversions between float or double and the 16-bit floating-point formats binary16 and bfloat16.
#pragma once

#include <cmath>
#include <type_traits>

#include "intrinsics.h"

namespace PyGPU {
namespace host {

// IEEE binary16. The conversions use integer and float arithmetic, because compilers vectorize it
// but often do not vectorize conversions of _Float16.
struct Half {
  static float widen(unsigned short h) {
    const unsigned size = h & 0x7fffu, sign = (h & 0x8000u) << 16;
    const unsigned small = bits<unsigned>(float(int(size)) * 5.9604644775390625e-8f);  // 2^-24
    const unsigned usual = (size << 13) + (size < 0x7c00u ? 112u << 23 : 224u << 23);
    const unsigned quiet = size > 0x7c00u ? 0x400000u : 0;  // a signaling NaN becomes quiet
    return bits<float>(sign | quiet | (size < 0x400u ? small : usual));
  }
  static unsigned short narrow(float x) {
    const unsigned word = bits<unsigned>(x), sign = word >> 16 & 0x8000u, size = word & 0x7fffffffu;
    const unsigned usual = (size + 0xfffu + (size >> 13 & 1) - 0x38000000u) >> 13;
    // A result below 2^-14 must be a multiple of 2^-24. Adding 1/2 rounds it to such a multiple: in
    // [1/2, 1), floats are 2^-24 apart.
    const unsigned small = bits<unsigned>(bits<float>(size) + 0.5f) - 0x3f000000u;
    const unsigned finite = size < 0x38800000u ? small : usual;
    const unsigned number = size < 0x477ff000u ? finite : 0x7c00u;
    const unsigned result = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x3ffu) : number;
    return static_cast<unsigned short>(sign | result);
  }
};
// bfloat16: the upper 16 bits of a float.
struct Bfloat16 {
  static float widen(unsigned short upper) { return bits<float>(unsigned(upper) << 16); }
  static unsigned short narrow(float x) {
    const unsigned word = bits<unsigned>(x), rounded = word + 0x7fffu + (word >> 16 & 1);
    return static_cast<unsigned short>(x != x ? 0x7fffu : rounded >> 16);
  }
};

// A rounding in two steps, the second to fewer bits, must round to odd in its first step: an
// inexact result becomes the neighboring number whose last bit is 1. The two steps then give the
// same result as one rounding of the exact value.
template <class Integer>
inline double integer_to_odd(Integer x) {
  using Wide = typename std::conditional<std::is_unsigned<Integer>::value, unsigned long long,
                                         long long>::type;
  const Wide wide = static_cast<Wide>(x), most = Wide(1) << 53;
  const bool fits = sizeof x < 8 || (wide < most && wide + most > 0);
  const Wide lost = wide & 0x7ff;
  return double(fits ? wide : (wide - lost) | (lost ? 0x800 : 0));
}
inline double sum_to_odd(double x, double y) {
  const double near = x + y, part = near - x, lost = (x - (near - part)) + (y - part);
  const auto word = bits<unsigned long long>(near);
  if (!(lost < 0 || lost > 0) || (word & 1)) return near;
  return bits<double>((lost > 0) == (near > 0) ? word + 1 : word - 1);
}
inline float double_to_odd(double x) {
  const float near = float(x);
  const unsigned word = bits<unsigned>(near);
  const unsigned below = std::fabs(double(near)) > std::fabs(x) ? word - 1 : word;
  return double(near) < x || double(near) > x ? bits<float>(below | 1) : near;
}

// Rounding to a 16-bit format. As in CUDA's names, rn rounds to nearest, rz towards zero, ru up, rd
// down.
template <class Format>
inline unsigned short nearest(double x) {
  return Format::narrow(double_to_odd(x));
}
template <class Format>
inline unsigned short rounded_rn(double x) {
  return nearest<Format>(x);
}
template <class Format>
inline unsigned short rounded_rn(float x) {
  return Format::narrow(x);
}
template <class Format>
inline unsigned short rounded_rz(double x) {
  const unsigned short near = nearest<Format>(x);
  return std::fabs(double(Format::widen(near))) > std::fabs(x) ? near - 1 : near;
}
template <class Format>
inline unsigned short rounded_ru(double x) {
  const unsigned short near = nearest<Format>(x);
  return double(Format::widen(near)) < x ? near + (near < 0x8000u ? 1 : -1) : near;
}
template <class Format>
inline unsigned short rounded_rd(double x) {
  return x != x ? nearest<Format>(x) : rounded_ru<Format>(-x) ^ 0x8000u;
}

}  // namespace host
}  // namespace PyGPU
