// The `cuda` target: NVIDIA's runtime, CUDA 11.3 or newer (for driver entry points).
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <string>

#include "cuda_arrays.h"
#include "cuda_graphs.h"
#include "cuda_modules.h"
#include "cuda_numbers.h"

static_assert(CUDART_VERSION >= 11030, "PyGPU needs CUDA 11.3 or newer");

#define PYGPU_TARGET_NAME "cuda"
#define PYGPU_HAVE_GPU 1

#define PYGPU_LAUNCH(kernel, grid, block, shared, stream) kernel<<<grid, block, shared, stream>>>
#define PYGPU_DYNAMIC_SHARED(type, name) extern __shared__ type name[]

#if CUDART_VERSION >= 13000
// Overload with the parameters of CUDA before 13, which are HIP's: a device number or
// cudaCpuDeviceId instead of a location.
inline cudaError_t cudaMemPrefetchAsync(const void* address, size_t nbytes, int device,
                                        cudaStream_t stream) {
  const bool on_host = device == cudaCpuDeviceId;
  const cudaMemLocation place{on_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                              on_host ? 0 : device};
  return cudaMemPrefetchAsync(address, nbytes, place, 0, stream);
}
#endif

namespace PyGPU {
// Return the name of the device's architecture for compilers.
inline std::string architecture_name(const cudaDeviceProp& properties) {
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
}
inline const char* architecture_features(const cudaDeviceProp&) { return ""; }

// Write the device's UUID, 16 bytes.
inline cudaError_t device_uuid(char* bytes, int device) {
  cudaDeviceProp properties{};
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  std::memcpy(bytes, properties.uuid.bytes, 16);
  return error;
}
}  // namespace PyGPU
