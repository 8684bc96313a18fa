// Compiled code and the fills, ranges and handles that CUDA leaves to its driver, on `hip`.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <string_view>

#include "capabilities.h"

namespace PyGPU {

// Do so many rows, at least two, lie within their pitch and their allocation? They are filled one
// by one, and all or none is wanted.
inline bool are_within(void* address, std::size_t pitch, std::size_t width, std::size_t itemsize,
                       std::size_t height) {
  if (width == 0) return true;
  if (width > std::size_t(-1) / itemsize || width * itemsize > pitch) return false;
  void* base = nullptr;
  std::size_t nbytes = 0;
  if (hipMemGetAddressRange(&base, &nbytes, address)) {  // memory that HIP knows otherwise
    (void)hipGetLastError();
    return true;
  }
  const std::size_t left =
      nbytes - std::size_t(static_cast<char*>(address) - static_cast<char*>(base));
  return width * itemsize <= left && height - 1 <= (left - width * itemsize) / pitch;
}

// See cuda_modules.h.
inline hipError_t fill_rows(void* address, std::size_t pitch, unsigned value, std::size_t itemsize,
                            std::size_t width, std::size_t height, hipStream_t stream) {
  if (height > 1 && !are_within(address, pitch, width, itemsize, height))
    return hipErrorInvalidValue;
  hipError_t error = hipSuccess;
  for (std::size_t row = 0; row < height && !error; ++row) {
    char* const first = static_cast<char*>(address) + row * pitch;
    error = itemsize == 2
                ? hipMemsetD16Async(first, static_cast<unsigned short>(value), width, stream)
                : hipMemsetD32Async(first, int(value), width, stream);
  }
  return error;
}

inline const auto address_range = hipMemGetAddressRange;

// HIP has contexts for CUDA's sake only: no handle would be of use.
inline hipError_t context_handle(void** handle) {
  *handle = nullptr;
  return hipErrorNotSupported;
}

using gpu_module = hipModule_t;
using gpu_kernel = hipFunction_t;

inline hipError_t load_module(hipModule_t* module, const void* image, unsigned, int*, void**) {
  if (const hipError_t error = hipFree(nullptr)) return error;
  return hipModuleLoadData(module, image);
}
inline const auto unload_module = hipModuleUnload;
inline const auto find_kernel = hipModuleGetFunction;
inline const auto find_global = hipModuleGetGlobal;
// HIP has no such query; PyGPU/_compile/compilers/code_object.py reads the image's metadata
// instead.
inline hipError_t kernel_parameter(hipFunction_t, std::size_t, std::size_t*, std::size_t*) {
  return hipErrorNotSupported;
}
inline hipError_t kernel_attribute(int* value, hipFunction_t kernel, int attribute) {
  return hipFuncGetAttribute(value, static_cast<hipFunction_attribute>(attribute), kernel);
}
// The two that can be set are hints: on AMD every kernel may use all of a compute unit's shared
// memory, and its caches are not divided.
inline hipError_t set_kernel_attribute(hipFunction_t, int attribute, int value) {
  const bool is_size = attribute == HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const bool is_share = attribute == HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
  if (!(is_size && value >= 0) && !(is_share && value >= -1 && value <= 100))
    return hipErrorInvalidValue;
  if (is_share) return hipSuccess;
  int device = 0, most = 0;
  if (const hipError_t error = hipGetDevice(&device)) return error;
  const auto limit = hipDeviceAttributeMaxSharedMemoryPerBlock;
  if (const hipError_t error = hipDeviceGetAttribute(&most, limit, device)) return error;
  return value <= most ? hipSuccess : hipErrorInvalidValue;
}
inline hipError_t launch_kernel(hipFunction_t kernel, dim3 grid, dim3 block, void** arguments,
                                std::size_t shared_bytes, hipStream_t stream) {
  return hipModuleLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                               unsigned(shared_bytes), stream, arguments, nullptr);
}

constexpr Capabilities capabilities = [] {
  Capabilities hip;
  hip.is_rocm = true;
  hip.waits_beside_captures = false;  // refused by the runtimes of 2025
  hip.loop_threads = 256;
  hip.most_grid_threads = 0xffffffffull;  // HIP counts them in 32 bits
  return hip;
}();

// hipStreamLegacy: older runtimes crash on that handle, whatever headers PyGPU was built with.
inline bool null_stream_has_number() {
#if defined(hipStreamLegacy)
  static const bool has = [] {
    int version = 0;
    return !hipRuntimeGetVersion(&version) && version >= 60400000;
  }();
  return has;
#else
  return false;
#endif
}

// Since ROCm 7, pools on Radeon GPUs crash (gfx1100: ROCm/legacy-rocm-build 6178) or give memory
// that reads as zeros (gfx1030, gfx1201: ROCm/rocm-systems 10943, 11693), where ROCm 6.4 did not.
inline bool has_faulty_pools(int device) {
  int version = 0;
  hipDeviceProp_t properties;
  if (hipRuntimeGetVersion(&version) || version < 70000000) return false;
  if (hipGetDeviceProperties(&properties, device)) return false;
  const std::string_view name = properties.gcnArchName;
  const std::string_view family = name.substr(0, 5);
  const bool is_instinct = name.substr(0, 6) == "gfx125";
  return (family == "gfx10" || family == "gfx11" || family == "gfx12") && !is_instinct;
}

// See host_modules.h. The driver knows the memory of every library in the process.
inline hipError_t import_memory(void*, std::size_t) { return hipSuccess; }
inline hipError_t end_import(void*, std::size_t) { return hipSuccess; }

// See host_modules.h. Launches return at once.
inline void on_interrupt(bool (*)()) {}
inline void around_stream_waits(void (*)(void (*)(void*), void*)) {}

inline const char* last_report() { return ""; }

}  // namespace PyGPU
