// The prelude on HIPRTC: the common one, and CUDA's spellings that HIP lacks.
#pragma once

#include <prelude.h>

#include "atomics.h"
#include "intrinsics.h"
#include "textures.h"
#include "warp.h"

#ifndef __grid_constant__
#define __grid_constant__
#endif

// HIPRTC's printf does not accept a coordinate (threadIdx.x) as it is, only converted to a number.
template <class P_T>
__device__ inline P_T pygpu_printed(P_T P_value) {
  return P_value;
}
__device__ inline unsigned pygpu_printed(const decltype(threadIdx.x)& P_value) { return P_value; }
__device__ inline unsigned pygpu_printed(const decltype(blockIdx.x)& P_value) { return P_value; }
__device__ inline unsigned pygpu_printed(const decltype(blockDim.x)& P_value) { return P_value; }
__device__ inline unsigned pygpu_printed(const decltype(gridDim.x)& P_value) { return P_value; }
template <class... P_T>
__device__ inline int pygpu_printf(const char* P_format, const P_T&... P_values) {
  return printf(P_format, pygpu_printed(P_values)...);
}
#define printf pygpu_printf
