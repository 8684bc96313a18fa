// cuRAND's device functions under NVRTC: NVIDIA's where they are found, else ours.
#pragma once

#if __has_include_next(<curand_kernel.h>)
#include_next <curand_kernel.h>
#else
#include "../device/random/curand_kernel.h"
#endif
