// Types of cuRAND's host library that its device functions use: NVIDIA's or ours, as in
// curand_kernel.h.
#pragma once

#if __has_include(<curand_globals.h>) && \
    (__has_include(<nv/target>) || __CUDACC_VER_MAJOR__ < 12)
#include_next <curand.h>
#else
#include "../device/random/states.h"
#endif
