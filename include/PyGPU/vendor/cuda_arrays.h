// Arrays, textures and surfaces on the `cuda` target: the runtime has them all under these names.
#pragma once

#include <cuda_runtime.h>

// Their own header, cuda_profiler_api.h, is not in every package of the runtime's headers.
extern "C" {
extern cudaError_t CUDARTAPI cudaProfilerStart(void);
extern cudaError_t CUDARTAPI cudaProfilerStop(void);
}
