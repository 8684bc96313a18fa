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

// Defined for the kernel's text alone: earlier, <PyGPU/gpu.h> would detect the real nvcc.
#define __CUDACC__ 1
#define PYGPU_TARGET_HOST

// Since CUDA 12 a kernel cannot wait for the kernels that it launched.
#define cudaDeviceSynchronize cudaDeviceSynchronize_is_gone_from_device_code
