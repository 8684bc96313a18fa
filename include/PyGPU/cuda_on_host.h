// CUDA C++ for kernels on the `host` target: a kernel written for a GPU compiles with an ordinary
// C++ compiler. This is the one header to include; each part of the language is a file of host/.
//
// How a block runs: all its threads share one operating-system thread. They run one after another
// in a plain loop; only a thread that waits for others is suspended as a fiber until they arrive
// (src/host/fiber.cpp). So a kernel without barriers costs a loop, and `__shared__` is simply
// thread-local storage.
#pragma once

#ifndef PYGPU_READS_KERNELS  // else the text is only looked through for kernels
#include "host/atomics.h"
#include "host/bfloat16.h"
#include "host/builtins.h"
#include "host/execution.h"
#include "host/half.h"
#include "host/integers.h"
#include "host/intrinsics.h"
#include "host/launch.h"
#include "host/loop_math.h"
#include "host/math.h"
#include "host/qualifiers.h"
#include "host/surfaces.h"
#include "host/textures.h"
#include "host/vector_types.h"
#include "host/warp.h"
#ifndef PYGPU_SIMD_ON_DEMAND
#include "host/simd_integers.h"
#endif
#endif
