// CUDA's qualifiers of functions and variables, as macros for an ordinary C++ compiler.
#pragma once

#define __CUDA_ARCH__ 900  // kernels test it for features; this is compute capability 9.0

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __shared__ thread_local  // inside a function, thread_local implies static
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // empty: a hint only, and other code writes `__attribute__((__noinline__))`
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
