// <cuda_bf16.h> for kernels of the `host` target: short type names and constants. __nv_bfloat16
// itself is always declared.
#pragma once

#include "cuda_fp16.h"

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000u)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7fu)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
