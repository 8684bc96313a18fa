// CUDA's words for functions and variables, in terms of an ordinary C++ compiler.
#pragma once

#define __CUDA_ARCH__ 900  // kernels test it for features: those of compute capability 9.0

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __shared__ thread_local  // static in a function, whether that is said or not
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__  // a hint; empty, for `__attribute__((__noinline__))` is others' spelling of
                      // it
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
