// cuRAND's device functions under NVRTC: NVIDIA's headers if they are found, with the headers that
// they need since CUDA 12; else ours.
#pragma once

#if __has_include(<curand_globals.h>) && \
    (__has_include(<nv/target>) || __CUDACC_VER_MAJOR__ < 12)
#include_next <curand_kernel.h>
#else
#include "../device/random/curand_kernel.h"
#endif
