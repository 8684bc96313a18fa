// SIMD and DPX intrinsics of CUDA, for targets whose compiler lacks them. SIMD intrinsics compute
// with two 16-bit or four 8-bit integers in a 32-bit word. DPX intrinsics return the minimum or
// maximum of two or three values.
//
// The header is included only before sources that use one of its functions. In the precompiled
// header, it would lengthen each compilation by a tenth.
#pragma once

extern "C++" {

// Split two words into lanes of type P_Lane, and apply an operation to each pair of lanes.
template <class P_Lane, class P_Operation>
inline unsigned P_lane_by_lane(unsigned P_x, unsigned P_y, P_Operation P_operation) {
  const unsigned P_bits = 8 * sizeof(P_Lane), P_mask = (1u << P_bits) - 1;
  unsigned P_result = 0;
  for (unsigned P_shift = 0; P_shift < 32; P_shift += P_bits) {
    const int P_value = P_operation(int(P_Lane(P_x >> P_shift)), int(P_Lane(P_y >> P_shift)));
    P_result |= (unsigned(P_value) & P_mask) << P_shift;
  }
  return P_result;
}
// Return the sum of the lanes of a word.
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
  const int P_max = (1 << (P_bits - P_has_sign)) - 1, P_min = P_has_sign ? -P_max - 1 : 0;
  return P_x < P_min ? P_min : P_x > P_max ? P_max : P_x;
}

// Functions of two words. `value` is the result for the lanes P_a and P_b.
#define PYGPU_LANE_BY_LANE(name, lane, value)                                             \
  inline unsigned name(unsigned P_x, unsigned P_y) {                                      \
    using P_Lane = lane;                                                                  \
    return P_lane_by_lane<P_Lane>(P_x, P_y, [](int P_a, int P_b) { return int(value); }); \
  }
#define PYGPU_SIGNED_LANES(name, value) \
  PYGPU_LANE_BY_LANE(name##2, short, value) PYGPU_LANE_BY_LANE(name##4, signed char, value)
#define PYGPU_UNSIGNED_LANES(name, value)            \
  PYGPU_LANE_BY_LANE(name##2, unsigned short, value) \
  PYGPU_LANE_BY_LANE(name##4, unsigned char, value)

PYGPU_SIGNED_LANES(__vadd, P_a + P_b)
PYGPU_SIGNED_LANES(__vaddss, P_saturated<P_Lane>(P_a + P_b))
PYGPU_UNSIGNED_LANES(__vaddus, P_saturated<P_Lane>(P_a + P_b))
PYGPU_SIGNED_LANES(__vsub, P_a - P_b)
PYGPU_SIGNED_LANES(__vsubss, P_saturated<P_Lane>(P_a - P_b))
PYGPU_UNSIGNED_LANES(__vsubus, P_saturated<P_Lane>(P_a - P_b))
PYGPU_SIGNED_LANES(__vabsdiffs, P_a > P_b ? P_a - P_b : P_b - P_a)
PYGPU_UNSIGNED_LANES(__vabsdiffu, P_a > P_b ? P_a - P_b : P_b - P_a)
PYGPU_SIGNED_LANES(__vavgs, (P_a + P_b + (P_a + P_b >= 0)) >> 1)
PYGPU_UNSIGNED_LANES(__vavgu, (P_a + P_b + 1) >> 1)
PYGPU_UNSIGNED_LANES(__vhaddu, (P_a + P_b) >> 1)
PYGPU_SIGNED_LANES(__vmaxs, P_a > P_b ? P_a : P_b)
PYGPU_UNSIGNED_LANES(__vmaxu, P_a > P_b ? P_a : P_b)
PYGPU_SIGNED_LANES(__vmins, P_a < P_b ? P_a : P_b)
PYGPU_UNSIGNED_LANES(__vminu, P_a < P_b ? P_a : P_b)

// Comparisons. A lane of the result is 0 if false. If true, it is 1 (__vset...) or has all bits set
// (__vcmp...).
#define PYGPU_COMPARISON(lanes, name, sign) \
  lanes(__vset##name, P_a sign P_b) lanes(__vcmp##name, P_a sign P_b ? -1 : 0)
PYGPU_COMPARISON(PYGPU_UNSIGNED_LANES, eq, ==)
PYGPU_COMPARISON(PYGPU_UNSIGNED_LANES, ne, !=)
PYGPU_COMPARISON(PYGPU_SIGNED_LANES, ges, >=)
PYGPU_COMPARISON(PYGPU_UNSIGNED_LANES, geu, >=)
PYGPU_COMPARISON(PYGPU_SIGNED_LANES, gts, >)
PYGPU_COMPARISON(PYGPU_UNSIGNED_LANES, gtu, >)
PYGPU_COMPARISON(PYGPU_SIGNED_LANES, les, <=)
PYGPU_COMPARISON(PYGPU_UNSIGNED_LANES, leu, <=)
PYGPU_COMPARISON(PYGPU_SIGNED_LANES, lts, <)
PYGPU_COMPARISON(PYGPU_UNSIGNED_LANES, ltu, <)
#undef PYGPU_COMPARISON

// Functions of one word, and sums of absolute differences (__vsad...).
#define PYGPU_UNARY(name, value) \
  inline unsigned name(unsigned P_x) { return value; }
#define PYGPU_SUM_OF_DIFFERENCES(name, lane)                 \
  inline unsigned __vsad##name(unsigned P_x, unsigned P_y) { \
    return P_sum_of_lanes<lane>(__vabsdiff##name(P_x, P_y)); \
  }
PYGPU_UNARY(__vneg2, __vsub2(0, P_x))
PYGPU_UNARY(__vneg4, __vsub4(0, P_x))
PYGPU_UNARY(__vnegss2, __vsubss2(0, P_x))
PYGPU_UNARY(__vnegss4, __vsubss4(0, P_x))
PYGPU_UNARY(__vabs2, __vabsdiffs2(P_x, 0))
PYGPU_UNARY(__vabs4, __vabsdiffs4(P_x, 0))
PYGPU_UNARY(__vabsss2, __vmaxs2(P_x, __vnegss2(P_x)))
PYGPU_UNARY(__vabsss4, __vmaxs4(P_x, __vnegss4(P_x)))
#undef PYGPU_UNARY
PYGPU_SUM_OF_DIFFERENCES(s2, unsigned short)
PYGPU_SUM_OF_DIFFERENCES(s4, unsigned char)
PYGPU_SUM_OF_DIFFERENCES(u2, unsigned short)
PYGPU_SUM_OF_DIFFERENCES(u4, unsigned char)
#undef PYGPU_SUM_OF_DIFFERENCES

// Dot products, added to P_sum. __dp4a multiplies the four bytes of P_x by those of P_y. __dp2a
// multiplies the two 16-bit integers of P_x by the lower (_lo) or upper (_hi) two bytes of P_y.
#define PYGPU_DOT(type, lane, byte, u)                                                            \
  inline type __dp4a(type P_x, type P_y, type P_sum) {                                            \
    for (int P_shift = 0; P_shift < 32; P_shift += 8)                                             \
      P_sum = type(unsigned(P_sum) +                                                              \
                   static_cast<byte>(P_x >> P_shift) * static_cast<byte>(P_y >> P_shift));        \
    return P_sum;                                                                                 \
  }                                                                                               \
  inline type __dp2a_lo(type P_x, type P_y, type P_sum) {                                         \
    for (int P_lane = 0; P_lane < 2; ++P_lane)                                                    \
      P_sum = type(unsigned(P_sum) +                                                              \
                   static_cast<lane>(P_x >> 16 * P_lane) * static_cast<byte>(P_y >> 8 * P_lane)); \
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

// Minimum and maximum (DPX). The __vib... functions also report whether the first operand is the
// result. The ..._relu functions return 0 instead of a negative result.
#define PYGPU_MIN_OR_MAX(name, sign, type, suffix)                                         \
  inline type P_##name##_##suffix(type P_x, type P_y) { return P_x sign P_y ? P_x : P_y; } \
  inline type __vib##name##_##suffix(type P_x, type P_y, bool* P_is_first) {               \
    *P_is_first = !(P_y sign P_x);                                                         \
    return P_##name##_##suffix(P_x, P_y);                                                  \
  }
PYGPU_MIN_OR_MAX(max, >, int, s32)
PYGPU_MIN_OR_MAX(max, >, unsigned, u32)
PYGPU_MIN_OR_MAX(min, <, int, s32)
PYGPU_MIN_OR_MAX(min, <, unsigned, u32)
#undef PYGPU_MIN_OR_MAX

#define PYGPU_MIN_OR_MAX_OF_LANES(name, lanes, suffix, compared)                                  \
  inline unsigned P_##name##_##suffix(unsigned P_x, unsigned P_y) { return lanes(P_x, P_y); }     \
  inline unsigned __vib##name##_##suffix(unsigned P_x, unsigned P_y, bool* P_high, bool* P_low) { \
    const unsigned P_is_first = compared(P_x, P_y);                                               \
    *P_high = P_is_first >> 16;                                                                   \
    *P_low = P_is_first & 1;                                                                      \
    return lanes(P_x, P_y);                                                                       \
  }
PYGPU_MIN_OR_MAX_OF_LANES(max, __vmaxs2, s16x2, __vsetges2)
PYGPU_MIN_OR_MAX_OF_LANES(max, __vmaxu2, u16x2, __vsetgeu2)
PYGPU_MIN_OR_MAX_OF_LANES(min, __vmins2, s16x2, __vsetles2)
PYGPU_MIN_OR_MAX_OF_LANES(min, __vminu2, u16x2, __vsetleu2)
#undef PYGPU_MIN_OR_MAX_OF_LANES

inline int P_sum_s32(int P_x, int P_y) { return int(unsigned(P_x) + unsigned(P_y)); }
inline unsigned P_sum_u32(unsigned P_x, unsigned P_y) { return P_x + P_y; }
inline unsigned P_sum_s16x2(unsigned P_x, unsigned P_y) { return __vadd2(P_x, P_y); }
inline unsigned P_sum_u16x2(unsigned P_x, unsigned P_y) { return __vadd2(P_x, P_y); }

#define PYGPU_THREE_OPERANDS(name, type, suffix)                       \
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
#define PYGPU_DPX(name)                       \
  PYGPU_THREE_OPERANDS(name, int, s32)        \
  PYGPU_THREE_OPERANDS(name, unsigned, u32)   \
  PYGPU_THREE_OPERANDS(name, unsigned, s16x2) \
  PYGPU_THREE_OPERANDS(name, unsigned, u16x2) \
  PYGPU_RELU(name, int, s32)                  \
  PYGPU_RELU(name, unsigned, s16x2)
PYGPU_DPX(max)
PYGPU_DPX(min)
#undef PYGPU_DPX
#undef PYGPU_RELU
#undef PYGPU_THREE_OPERANDS

#undef PYGPU_SIGNED_LANES
#undef PYGPU_UNSIGNED_LANES
#undef PYGPU_LANE_BY_LANE
}
