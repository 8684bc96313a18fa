// CUDA's bfloat16 numbers (__nv_bfloat16), 16 bits with the range of a float, and pairs of them
// (__nv_bfloat162).
#pragma once

#include "float16_formats.h"
#include "vector_types.h"

#define PYGPU_F16 __nv_bfloat16
#define PYGPU_F16X2 __nv_bfloat162
#define PYGPU_F16_RAW __nv_bfloat16_raw
#define PYGPU_F16X2_RAW __nv_bfloat162_raw
#define PYGPU_F16_NAME(before, after) before##bfloat16##after
#define PYGPU_F16_FORMAT PyGPU::host::Bfloat16
#define PYGPU_F16_INFINITY 0x7f80u
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
#define PYGPU_F16_OPERATORS 0
#else
#define PYGPU_F16_OPERATORS 1
#endif
#ifdef __CUDA_NO_BFLOAT162_OPERATORS__
#define PYGPU_F16X2_OPERATORS 0
#else
#define PYGPU_F16X2_OPERATORS 1
#endif
#include "float16.h"

inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return __nv_bfloat162(h, h); }
