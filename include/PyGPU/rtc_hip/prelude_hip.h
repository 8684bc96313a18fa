// Prelude of every text under HIPRTC: the common prelude, and CUDA's names that HIP lacks.
#pragma once

#include <prelude.h>

#include "atomics.h"
#include "intrinsics.h"
#include "launch_bounds.h"
#include "textures.h"
#include "warp.h"

#ifndef __grid_constant__
#define __grid_constant__
#endif

// printf of threadIdx.x and its neighbors. Before HIP 6.1 they are objects of four classes, which
// HIPRTC's printf does not accept; pygpu_printed converts them. From 6.1 on they are plain numbers,
// and its overloads for them must not collide with each other.
extern "C++" {
template <int P_which>
struct PyGPU_Unused {
  __device__ operator unsigned() const;
};
template <class P_T, int P_which>
struct PyGPU_Coordinate {
  typedef P_T P_Type;
};
template <int P_which>
struct PyGPU_Coordinate<unsigned, P_which> {
  typedef PyGPU_Unused<P_which> P_Type;
};
template <int P_which>
struct PyGPU_Coordinate<const unsigned, P_which> : PyGPU_Coordinate<unsigned, P_which> {};

template <class P_T>
__device__ inline P_T pygpu_printed(P_T P_value) {
  return P_value;
}
#define PYGPU_PRINTED(which, name)                                                    \
  __device__ inline unsigned pygpu_printed(                                           \
      const typename PyGPU_Coordinate<decltype(name), which>::P_Type& P_coordinate) { \
    return P_coordinate;                                                              \
  }
#define PYGPU_PRINTED_AXES(which, name) \
  PYGPU_PRINTED(which, name.x)          \
  PYGPU_PRINTED(which + 1, name.y)      \
  PYGPU_PRINTED(which + 2, name.z)
PYGPU_PRINTED_AXES(0, threadIdx)
PYGPU_PRINTED_AXES(3, blockIdx)
PYGPU_PRINTED_AXES(6, blockDim)
PYGPU_PRINTED_AXES(9, gridDim)
#undef PYGPU_PRINTED_AXES
#undef PYGPU_PRINTED
template <class... P_T>
__device__ inline int pygpu_printf(const char* P_format, const P_T&... P_values) {
  return printf(P_format, pygpu_printed(P_values)...);
}
}
#define printf pygpu_printf
