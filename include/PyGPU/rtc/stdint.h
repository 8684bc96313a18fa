// Integer types of fixed width and their limits.
#pragma once

#include "limits.h"

// A program may declare these types itself: PYGPU_OWN_int64_t is then "~,long long".
#define PYGPU_OWN_OR(...) PYGPU_SECOND(__VA_ARGS__, )
#define PYGPU_SECOND(first, second, ...) second

typedef PYGPU_OWN_OR(PYGPU_OWN_int8_t, signed char) int8_t;
typedef short int16_t;
typedef int int32_t;
typedef PYGPU_OWN_OR(PYGPU_OWN_uint8_t, unsigned char) uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
#ifdef __HIPCC_RTC__  // as HIP's own header declares them
typedef PYGPU_OWN_OR(PYGPU_OWN_int64_t, long long) int64_t;
typedef PYGPU_OWN_OR(PYGPU_OWN_uint64_t, unsigned long long) uint64_t;
#else  // as nvcc declares them on Linux
typedef PYGPU_OWN_OR(PYGPU_OWN_int64_t, long) int64_t;
typedef PYGPU_OWN_OR(PYGPU_OWN_uint64_t, unsigned long) uint64_t;
#endif

#define PYGPU_LEAST_AND_FAST(bits, fast)       \
  typedef int##bits##_t int_least##bits##_t;   \
  typedef uint##bits##_t uint_least##bits##_t; \
  typedef signed fast int_fast##bits##_t;      \
  typedef unsigned fast uint_fast##bits##_t;
PYGPU_LEAST_AND_FAST(8, char)
PYGPU_LEAST_AND_FAST(16, long)
PYGPU_LEAST_AND_FAST(32, long)
PYGPU_LEAST_AND_FAST(64, long)
#undef PYGPU_LEAST_AND_FAST

typedef PYGPU_OWN_OR(PYGPU_OWN_intptr_t, long) intptr_t;
typedef PYGPU_OWN_OR(PYGPU_OWN_uintptr_t, unsigned long) uintptr_t;
typedef PYGPU_OWN_OR(PYGPU_OWN_intmax_t, long) intmax_t;
typedef PYGPU_OWN_OR(PYGPU_OWN_uintmax_t, unsigned long) uintmax_t;

#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define UINT64_MAX ULONG_MAX

#define INT_LEAST8_MIN INT8_MIN
#define INT_LEAST8_MAX INT8_MAX
#define UINT_LEAST8_MAX UINT8_MAX
#define INT_LEAST16_MIN INT16_MIN
#define INT_LEAST16_MAX INT16_MAX
#define UINT_LEAST16_MAX UINT16_MAX
#define INT_LEAST32_MIN INT32_MIN
#define INT_LEAST32_MAX INT32_MAX
#define UINT_LEAST32_MAX UINT32_MAX
#define INT_LEAST64_MIN INT64_MIN
#define INT_LEAST64_MAX INT64_MAX
#define UINT_LEAST64_MAX UINT64_MAX

#define INT_FAST8_MIN INT8_MIN
#define INT_FAST8_MAX INT8_MAX
#define UINT_FAST8_MAX UINT8_MAX
#define INT_FAST16_MIN INT64_MIN
#define INT_FAST16_MAX INT64_MAX
#define UINT_FAST16_MAX UINT64_MAX
#define INT_FAST32_MIN INT64_MIN
#define INT_FAST32_MAX INT64_MAX
#define UINT_FAST32_MAX UINT64_MAX
#define INT_FAST64_MIN INT64_MIN
#define INT_FAST64_MAX INT64_MAX
#define UINT_FAST64_MAX UINT64_MAX

#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX

#define INT8_C(value) value
#define INT16_C(value) value
#define INT32_C(value) value
#define INT64_C(value) value##L
#define UINT8_C(value) value
#define UINT16_C(value) value
#define UINT32_C(value) value##U
#define UINT64_C(value) value##UL
#define INTMAX_C(value) value##L
#define UINTMAX_C(value) value##UL
