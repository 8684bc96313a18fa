// Prelude of every source that is compiled at run time: the names that nvcc's host headers provide
// without an include. Macros and typedefs only, because every kernel compiles it; namespace std is
// included on demand.
#pragma once

#include "assert.h"
#include "float.h"
#include "limits.h"
#include "math.h"
#include "stddef.h"
#include "stdint.h"
#include "stdio.h"
#include "stdlib.h"
#include "sys/types.h"

// Words and functions of g++ that nvcc accepts.
#if __cplusplus >= 201703L
#define register
#endif
#ifndef __HIPCC_RTC__
#define __asm__ asm
#undef __host__
#define __host__  // NVRTC refuses functions of the host; as others, they become device functions
#define __builtin_clz(value) __clz(value)
#define __builtin_clzll(value) __clzll(value)
#define __builtin_ctz(value) (__ffs(value) - 1)
#define __builtin_ctzll(value) (__ffsll(value) - 1)
#define __builtin_popcount(value) __popc(value)
#define __builtin_popcountll(value) __popcll(value)
#endif

#ifdef PYGPU_USES_STD  // the source text contains "std"
#include "algorithm"
#include "cmath"
#include "cstddef"
#include "cstdint"
#include "cstdio"
#include "cstdlib"
#include "cstring"
#endif
#ifdef PYGPU_USES_LIMITS  // the source text contains "numeric_limits"
#include "limits"
#endif
#ifdef PYGPU_USES_TRAITS  // the source text contains "enable_if", "is_same" or similar, or "pair"
#include "type_traits"
#include "utility"
#endif
