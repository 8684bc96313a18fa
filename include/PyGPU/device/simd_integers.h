// CUDA's SIMD and DPX intrinsics, for targets that lack them: two 16-bit or four 8-bit integers in
// a word, and minima and maxima of two and three values.
//
// This header is included only before texts that use one of its functions: in the precompiled
// header it would cost each compilation a tenth of its time.
#pragma once

extern "C++" {

// Apply an operation to each pair of lanes of type P_Lane in two words.
template <class P_Lane, class P_Operation>
inline unsigned P_lane_by_lane(unsigned P_x, unsigned P_y, P_Operation P_operation) {
  const unsigned P_bits = 8 * sizeof(P_Lane), P_mask = (1u << P_bits) - 1;
  unsigned P_result = 0;
  for (unsigned P_shift = 0; P_shift < 32; P_shift += P_bits) {
    const int P_one = P_operation(int(P_Lane(P_x >> P_shift)), int(P_Lane(P_y >> P_shift)));
    P_result |= (unsigned(P_one) & P_mask) << P_shift;
  }
  return P_result;
}
// Return the sum of a word's lanes.
template <class P_Lane>
inline unsigned P_sum_of_lanes(unsigned P_x) {
  unsigned P_sum = 0;
  for (unsigned P_shift = 0; P_shift < 32; P_shift += 8 * sizeof(P_Lane))
    P_sum += P_Lane(P_x >> P_shift);
  return P_sum;
}
// Clamp a number to the range of P_Lane.
template <class P_Lane>
inline int P_saturated(int P_x) {
  const int P_bits = 8 * sizeof(P_Lane), P_has_sign = P_Lane(-1) < P_Lane(0);
  const int P_most = (1 << (P_bits - P_has_sign)) - 1, P_least = P_has_sign ? -P_most - 1 : 0;
  return P_x < P_least ? P_least : P_x > P_most ? P_most : P_x;
}

#define PYGPU_LANES(name, lane, value)                                                    \
  inline unsigned name(unsigned P_x, unsigned P_y) {                                      \
    using P_Lane = lane;                                                                  \
    return P_lane_by_lane<P_Lane>(P_x, P_y, [](int P_a, int P_b) { return int(value); }); \
  }
#define PYGPU_SIGNED(name, value) \
  PYGPU_LANES(name##2, short, value) PYGPU_LANES(name##4, signed char, value)
#define PYGPU_UNSIGNED(name, value) \
  PYGPU_LANES(name##2, unsigned short, value) PYGPU_LANES(name##4, unsigned char, value)

PYGPU_SIGNED(__vadd, P_a + P_b)
PYGPU_SIGNED(__vaddss, P_saturated<P_Lane>(P_a + P_b))
PYGPU_UNSIGNED(__vaddus, P_saturated<P_Lane>(P_a + P_b))
PYGPU_SIGNED(__vsub, P_a - P_b)
PYGPU_SIGNED(__vsubss, P_saturated<P_Lane>(P_a - P_b))
PYGPU_UNSIGNED(__vsubus, P_saturated<P_Lane>(P_a - P_b))
PYGPU_SIGNED(__vabsdiffs, P_a > P_b ? P_a - P_b : P_b - P_a)
PYGPU_UNSIGNED(__vabsdiffu, P_a > P_b ? P_a - P_b : P_b - P_a)
PYGPU_SIGNED(__vavgs, (P_a + P_b + (P_a + P_b >= 0)) >> 1)
PYGPU_UNSIGNED(__vavgu, (P_a + P_b + 1) >> 1)
PYGPU_UNSIGNED(__vhaddu, (P_a + P_b) >> 1)
PYGPU_SIGNED(__vmaxs, P_a > P_b ? P_a : P_b)
PYGPU_UNSIGNED(__vmaxu, P_a > P_b ? P_a : P_b)
PYGPU_SIGNED(__vmins, P_a < P_b ? P_a : P_b)
PYGPU_UNSIGNED(__vminu, P_a < P_b ? P_a : P_b)

// Comparisons: a true lane is 1 (__vset...) or has all bits set (__vcmp...).
#define PYGPU_COMPARED(lanes, name, sign) \
  lanes(__vset##name, P_a sign P_b) lanes(__vcmp##name, P_a sign P_b ? -1 : 0)
PYGPU_COMPARED(PYGPU_UNSIGNED, eq, ==)
PYGPU_COMPARED(PYGPU_UNSIGNED, ne, !=)
PYGPU_COMPARED(PYGPU_SIGNED, ges, >=)
PYGPU_COMPARED(PYGPU_UNSIGNED, geu, >=)
PYGPU_COMPARED(PYGPU_SIGNED, gts, >)
PYGPU_COMPARED(PYGPU_UNSIGNED, gtu, >)
PYGPU_COMPARED(PYGPU_SIGNED, les, <=)
PYGPU_COMPARED(PYGPU_UNSIGNED, leu, <=)
PYGPU_COMPARED(PYGPU_SIGNED, lts, <)
PYGPU_COMPARED(PYGPU_UNSIGNED, ltu, <)
#undef PYGPU_COMPARED

#define PYGPU_OF_ONE(name, value) \
  inline unsigned name(unsigned P_x) { return value; }
#define PYGPU_SADS(name, lane)                               \
  inline unsigned __vsad##name(unsigned P_x, unsigned P_y) { \
    return P_sum_of_lanes<lane>(__vabsdiff##name(P_x, P_y)); \
  }
PYGPU_OF_ONE(__vneg2, __vsub2(0, P_x))
PYGPU_OF_ONE(__vneg4, __vsub4(0, P_x))
PYGPU_OF_ONE(__vnegss2, __vsubss2(0, P_x))
PYGPU_OF_ONE(__vnegss4, __vsubss4(0, P_x))
PYGPU_OF_ONE(__vabs2, __vabsdiffs2(P_x, 0))
PYGPU_OF_ONE(__vabs4, __vabsdiffs4(P_x, 0))
PYGPU_OF_ONE(__vabsss2, __vmaxs2(P_x, __vnegss2(P_x)))
PYGPU_OF_ONE(__vabsss4, __vmaxs4(P_x, __vnegss4(P_x)))
#undef PYGPU_OF_ONE
PYGPU_SADS(s2, unsigned short)
PYGPU_SADS(s4, unsigned char)
PYGPU_SADS(u2, unsigned short)
PYGPU_SADS(u4, unsigned char)
#undef PYGPU_SADS

// Dot products added to P_sum: four bytes times four bytes, or two 16-bit numbers times the lower
// or higher two bytes of P_y.
#define PYGPU_DOT(type, lane, byte, u)                                                            \
  inline type __dp4a(type P_x, type P_y, type P_sum) {                                            \
    for (int P_shift = 0; P_shift < 32; P_shift += 8)                                             \
      P_sum = type(unsigned(P_sum) +                                                              \
                   static_cast<byte>(P_x >> P_shift) * static_cast<byte>(P_y >> P_shift));        \
    return P_sum;                                                                                 \
  }                                                                                               \
  inline type __dp2a_lo(type P_x, type P_y, type P_sum) {                                         \
    for (int P_number = 0; P_number < 2; ++P_number)                                              \
      P_sum = type(unsigned(P_sum) + static_cast<lane>(P_x >> 16 * P_number) *                    \
                                         static_cast<byte>(P_y >> 8 * P_number));                 \
    return P_sum;                                                                                 \
  }                                                                                               \
  inline type __dp2a_hi(type P_x, type P_y, type P_sum) {                                         \
    return __dp2a_lo(P_x, type(P_y >> 16), P_sum);                                                \
  }                                                                                               \
  inline type __dp4a(u##char4 P_x, u##char4 P_y, type P_sum) {                                    \
    return type(unsigned(P_sum) + P_x.x * P_y.x + P_x.y * P_y.y + P_x.z * P_y.z + P_x.w * P_y.w); \
  }                                                                                               \
  inline type __dp2a_lo(u##short2 P_x, u##char4 P_y, type P_sum) {                                \
    return type(unsigned(P_sum) + P_x.x * P_y.x + P_x.y * P_y.y);                                 \
  }                                                                                               \
  inline type __dp2a_hi(u##short2 P_x, u##char4 P_y, type P_sum) {                                \
    return type(unsigned(P_sum) + P_x.x * P_y.z + P_x.y * P_y.w);                                 \
  }
PYGPU_DOT(int, short, signed char, )
PYGPU_DOT(unsigned, unsigned short, unsigned char, u)
#undef PYGPU_DOT

// Minima and maxima (DPX). Functions with `relu` clamp negative results to zero.
#define PYGPU_EXTREME(name, sign, type, suffix)                                            \
  inline type P_##name##_##suffix(type P_x, type P_y) { return P_x sign P_y ? P_x : P_y; } \
  inline type __vib##name##_##suffix(type P_x, type P_y, bool* P_is_first) {               \
    *P_is_first = !(P_y sign P_x);                                                         \
    return P_##name##_##suffix(P_x, P_y);                                                  \
  }
PYGPU_EXTREME(max, >, int, s32)
PYGPU_EXTREME(max, >, unsigned, u32)
PYGPU_EXTREME(min, <, int, s32)
PYGPU_EXTREME(min, <, unsigned, u32)
#undef PYGPU_EXTREME

#define PYGPU_EXTREME_OF_TWO(name, lanes, suffix, compared)                                       \
  inline unsigned P_##name##_##suffix(unsigned P_x, unsigned P_y) { return lanes(P_x, P_y); }     \
  inline unsigned __vib##name##_##suffix(unsigned P_x, unsigned P_y, bool* P_high, bool* P_low) { \
    const unsigned P_is_first = compared(P_x, P_y);                                               \
    *P_high = P_is_first >> 16;                                                                   \
    *P_low = P_is_first & 1;                                                                      \
    return lanes(P_x, P_y);                                                                       \
  }
PYGPU_EXTREME_OF_TWO(max, __vmaxs2, s16x2, __vsetges2)
PYGPU_EXTREME_OF_TWO(max, __vmaxu2, u16x2, __vsetgeu2)
PYGPU_EXTREME_OF_TWO(min, __vmins2, s16x2, __vsetles2)
PYGPU_EXTREME_OF_TWO(min, __vminu2, u16x2, __vsetleu2)
#undef PYGPU_EXTREME_OF_TWO

inline int P_sum_s32(int P_x, int P_y) { return int(unsigned(P_x) + unsigned(P_y)); }
inline unsigned P_sum_u32(unsigned P_x, unsigned P_y) { return P_x + P_y; }
inline unsigned P_sum_s16x2(unsigned P_x, unsigned P_y) { return __vadd2(P_x, P_y); }
inline unsigned P_sum_u16x2(unsigned P_x, unsigned P_y) { return __vadd2(P_x, P_y); }

#define PYGPU_OF_THREE(name, type, suffix)                             \
  inline type __vi##name##3_##suffix(type P_x, type P_y, type P_z) {   \
    return P_##name##_##suffix(P_##name##_##suffix(P_x, P_y), P_z);    \
  }                                                                    \
  inline type __viadd##name##_##suffix(type P_x, type P_y, type P_z) { \
    return P_##name##_##suffix(P_sum_##suffix(P_x, P_y), P_z);         \
  }
#define PYGPU_RELU(name, type, suffix)                                        \
  inline type __vi##name##_##suffix##_relu(type P_x, type P_y) {              \
    return P_max_##suffix(P_##name##_##suffix(P_x, P_y), 0);                  \
  }                                                                           \
  inline type __vi##name##3_##suffix##_relu(type P_x, type P_y, type P_z) {   \
    return P_max_##suffix(__vi##name##3_##suffix(P_x, P_y, P_z), 0);          \
  }                                                                           \
  inline type __viadd##name##_##suffix##_relu(type P_x, type P_y, type P_z) { \
    return P_max_##suffix(__viadd##name##_##suffix(P_x, P_y, P_z), 0);        \
  }
#define PYGPU_DPX(name)                 \
  PYGPU_OF_THREE(name, int, s32)        \
  PYGPU_OF_THREE(name, unsigned, u32)   \
  PYGPU_OF_THREE(name, unsigned, s16x2) \
  PYGPU_OF_THREE(name, unsigned, u16x2) \
  PYGPU_RELU(name, int, s32)            \
  PYGPU_RELU(name, unsigned, s16x2)
PYGPU_DPX(max)
PYGPU_DPX(min)
#undef PYGPU_DPX
#undef PYGPU_RELU
#undef PYGPU_OF_THREE

#undef PYGPU_SIGNED
#undef PYGPU_UNSIGNED
#undef PYGPU_LANES
}
