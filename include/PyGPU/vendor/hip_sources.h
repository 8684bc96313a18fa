// CUDA's names for users' files that hipcc compiles (PyGPU.load includes this header before them):
// runtime calls that PyGPU itself does not need, and device functions that HIP lacks.
#pragma once

#include "../gpu.h"
// The macros of these headers follow all headers of HIP.
#include "../rtc_hip/intrinsics.h"
#include "../rtc_hip/launch_bounds.h"
#include "../rtc_hip/warp.h"

#define cudaGetSymbolAddress hipGetSymbolAddress
#define cudaGetSymbolSize hipGetSymbolSize
#define cudaMemcpyToSymbol hipMemcpyToSymbol
#define cudaMemcpyToSymbolAsync hipMemcpyToSymbolAsync
#define cudaMemcpyFromSymbol hipMemcpyFromSymbol
#define cudaMemcpyFromSymbolAsync hipMemcpyFromSymbolAsync

// CUDA accepts pointers to pointers of any type, and arrays without flags.
#undef cudaHostGetDevicePointer
template <class T>
inline hipError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
  return hipHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
#undef cudaMalloc3DArray
inline hipError_t cudaMalloc3DArray(hipArray_t* array, const hipChannelFormatDesc* format,
                                    hipExtent extent, unsigned flags = 0) {
  return hipMalloc3DArray(array, format, extent, flags);
}
