// Last error of the calling library's own copy of the runtime. A library that nvcc links contains a
// copy of CUDA's runtime, whose errors no other library can read.
#pragma once

#if defined(PYGPU_TARGET_HOST) || !(defined(__CUDACC__) || defined(PYGPU_TARGET_CUDA))
// The host machine and HIP are shared libraries: PyGPU reads the error itself.
inline int PyGPU_take_last_error() { return 0; }
#else
#include <cuda_runtime_api.h>
inline int PyGPU_take_last_error() { return int(cudaGetLastError()); }
#endif
