// <cuda.h> for the `host` target: types of CUDA's driver API, whose functions the host machine does
// not have. Many sources include it for the runtime API.
#pragma once

#include "cuda_runtime.h"

#define CUDA_VERSION CUDART_VERSION

using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
