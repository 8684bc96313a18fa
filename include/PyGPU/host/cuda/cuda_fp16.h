// <cuda_fp16.h> for kernels of the `host` target: short type names and constants. __half itself is
// always declared; the short names are not, because a program may use them for other things.
#pragma once

#include "../../cuda_on_host.h"

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000u)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
