// Prelude of kernels compiled at run time for the host machine, included before their text: the
// language, the kernel table, and the declarations that nvcc provides without an include.
#pragma once

#include <sys/types.h>

#include <cstddef>
// Disable libstdc++'s special functions of C++17: no kernel has them, and they would take a fifth
// of a small kernel's compile time.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>

#define PYGPU_SIMD_ON_DEMAND  // simd_integers.h is included only before texts that need it
#include "child_launch.h"
#include "cuda/cooperative_groups.h"
#include "module.h"

// CUDA's functions under the names of PyGPU/_compile/source/library_names.py: a program's function
// may have their names. As templates they come after it, and it may have their types too.
#define PYGPU_RENAMED(T, name, parameters, call) \
  template <int = 0>                             \
  inline T PyGPU_own_##name parameters {         \
    return call;                                 \
  }
PYGPU_RENAMED(clock_t, clock, (), ::clock())
PYGPU_RENAMED(long long, wall_clock64, (), ::wall_clock64())
PYGPU_RENAMED(int, mulhi, (int x, int y), ::mulhi(x, y))
PYGPU_RENAMED(unsigned, umulhi, (unsigned x, unsigned y), ::umulhi(x, y))
PYGPU_RENAMED(int, mul24, (int x, int y), ::mul24(x, y))
PYGPU_RENAMED(unsigned, umul24, (unsigned x, unsigned y), ::umul24(x, y))
PYGPU_RENAMED(void*, memcpy, (void* to, const void* from, size_t n), ::memcpy(to, from, n))
PYGPU_RENAMED(void*, memmove, (void* to, const void* from, size_t n), ::memmove(to, from, n))
PYGPU_RENAMED(void*, memset, (void* to, int byte, size_t n), ::memset(to, byte, n))
PYGPU_RENAMED(int, memcmp, (const void* a, const void* b, size_t n), ::memcmp(a, b, n))
PYGPU_RENAMED(size_t, strlen, (const char* text), ::strlen(text))
PYGPU_RENAMED(int, strcmp, (const char* a, const char* b), ::strcmp(a, b))
PYGPU_RENAMED(int, strncmp, (const char* a, const char* b, size_t n), ::strncmp(a, b, n))
PYGPU_RENAMED(char*, strcpy, (char* to, const char* from), ::strcpy(to, from))
#undef PYGPU_RENAMED

// Defined for the kernel's text alone: earlier, <PyGPU/gpu.h> would detect the real nvcc.
#define __CUDACC__ 1
#define PYGPU_TARGET_HOST

// Since CUDA 12 a kernel cannot wait for the kernels that it launched.
#define cudaDeviceSynchronize cudaDeviceSynchronize_is_gone_from_device_code
