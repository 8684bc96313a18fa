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
template <class T>
__device__ inline T pygpu_printed(T value) {
  return value;
}
__device__ inline unsigned pygpu_printed(const decltype(threadIdx.x)& value) { return value; }
__device__ inline unsigned pygpu_printed(const decltype(blockIdx.x)& value) { return value; }
__device__ inline unsigned pygpu_printed(const decltype(blockDim.x)& value) { return value; }
__device__ inline unsigned pygpu_printed(const decltype(gridDim.x)& value) { return value; }
template <class... T>
__device__ inline int pygpu_printf(const char* format, const T&... values) {
  return printf(format, pygpu_printed(values)...);
}
#define printf pygpu_printf
