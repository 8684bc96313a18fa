// Arrays, textures and surfaces on the `cuda` target: the runtime has all of them under these
// names.
#pragma once

#include <cuda_runtime.h>

// Declared here because some packages of the runtime's headers lack cuda_profiler_api.h.
extern "C" {
extern cudaError_t CUDARTAPI cudaProfilerStart(void);
extern cudaError_t CUDARTAPI cudaProfilerStop(void);
}
