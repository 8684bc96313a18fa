// CUDA C++ for kernels of the `host` target: a kernel written for a GPU compiles with an ordinary
// C++ compiler. Kernels include this header alone; each part of the language is a file of host/.
//
// All threads of a block run on one operating-system thread, one after another in a plain loop.
// Only a thread that waits for others is suspended, as a fiber, until they arrive
// (src/host/fiber.cpp). So a kernel without barriers costs no more than a loop, and `__shared__` is
// thread-local storage.
#pragma once

#ifndef PYGPU_READS_KERNELS  // if defined, a tool only searches the text for kernels
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
#include "device/simd_integers.h"
#endif
#endif
