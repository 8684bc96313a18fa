// Included before the text of a kernel that is compiled at run time for the host machine: the
// language, the table of kernels, and what nvcc declares without an include.
#pragma once

#include <sys/types.h>

#include <cstddef>
// libstdc++'s special functions of C++17: what no kernel has would take a fifth of the compilation
// of a small one.
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

#define PYGPU_SIMD_ON_DEMAND  // simd_integers.h goes before the texts that need it
#include "child_launch.h"
#include "cuda/cooperative_groups.h"
#include "module.h"

// For the text alone: <PyGPU/gpu.h> would take the real nvcc by it.
#define __CUDACC__ 1
#define PYGPU_TARGET_HOST

// Since CUDA 12 no kernel can wait for what it has launched.
#define cudaDeviceSynchronize cudaDeviceSynchronize_is_gone_from_device_code
