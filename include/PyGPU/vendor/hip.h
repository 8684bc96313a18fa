// The `hip` target: CUDA's runtime vocabulary over AMD's HIP runtime (ROCm 5.2 or newer).
#pragma once

#if !defined(__HIP_PLATFORM_AMD__)
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "cuda_numbers.h"
#include "hip_arrays.h"
#include "hip_attributes.h"
#include "hip_graphs.h"
#include "hip_modules.h"

#define PYGPU_TARGET_NAME "hip"
#define PYGPU_HAVE_GPU 1

#define PYGPU_LAUNCH(kernel, grid, block, shared, stream) kernel<<<grid, block, shared, stream>>>
#define PYGPU_DYNAMIC_SHARED(type, name) HIP_DYNAMIC_SHARED(type, name)

// Constants whose names in CUDA and HIP differ only in the prefix.
#define PYGPU_SAME(name) constexpr auto cuda##name = hip##name;
PYGPU_RUNTIME_CONSTANTS(PYGPU_SAME)
PYGPU_POOL_CONSTANTS(PYGPU_SAME)
#undef PYGPU_SAME

// Types and functions whose names differ only in the prefix. Types are macros, because
// `enum cudaMemcpyKind` must be a valid type too.
#define cudaStream_t hipStream_t
#define cudaEvent_t hipEvent_t
#define cudaMemPool_t hipMemPool_t
#define cudaMemPoolAttr hipMemPoolAttr
#define cudaMemPoolProps hipMemPoolProps
#define cudaMemAccessDesc hipMemAccessDesc
#define cudaMemAccessFlags hipMemAccessFlags
#define cudaMemcpyKind hipMemcpyKind
#define cudaIpcMemHandle_t hipIpcMemHandle_t
#define cudaIpcEventHandle_t hipIpcEventHandle_t
#define cudaGetErrorName hipGetErrorName
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaPeekAtLastError hipPeekAtLastError
#define cudaDriverGetVersion hipDriverGetVersion
#define cudaRuntimeGetVersion hipRuntimeGetVersion
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDevice hipGetDevice
#define cudaSetDevice hipSetDevice
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaDeviceReset hipDeviceReset
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaDeviceGetByPCIBusId hipDeviceGetByPCIBusId
#define cudaDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cudaDeviceGetLimit hipDeviceGetLimit
#define cudaDeviceGetCacheConfig hipDeviceGetCacheConfig
#define cudaDeviceSetCacheConfig hipDeviceSetCacheConfig
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaGetDeviceFlags hipGetDeviceFlags
#define cudaSetDeviceFlags hipSetDeviceFlags
#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceEnablePeerAccess hipDeviceEnablePeerAccess
#define cudaDeviceDisablePeerAccess hipDeviceDisablePeerAccess
#define cudaMemGetInfo hipMemGetInfo
#define cudaStreamCreate hipStreamCreate
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamQuery hipStreamQuery
#define cudaStreamIsCapturing hipStreamIsCapturing
#define cudaStreamCaptureStatus hipStreamCaptureStatus
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaStreamGetFlags hipStreamGetFlags
#define cudaStreamGetPriority hipStreamGetPriority
#define cudaStreamAttachMemAsync hipStreamAttachMemAsync
#define cudaEventCreate hipEventCreate
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventRecord hipEventRecord
#define cudaEventSynchronize hipEventSynchronize
#define cudaEventQuery hipEventQuery
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaMalloc hipMalloc
#define cudaMallocPitch hipMallocPitch
#define cudaMallocManaged hipMallocManaged
#define cudaMallocAsync hipMallocAsync
#define cudaMallocFromPoolAsync hipMallocFromPoolAsync
#define cudaFree hipFree
#define cudaFreeAsync hipFreeAsync
#define cudaHostGetDevicePointer hipHostGetDevicePointer
#define cudaHostGetFlags hipHostGetFlags
#define cudaHostUnregister hipHostUnregister
#define cudaMemPoolCreate hipMemPoolCreate
#define cudaMemPoolSetAccess hipMemPoolSetAccess
#define cudaMemPoolSetAttribute hipMemPoolSetAttribute
#define cudaMemPoolGetAttribute hipMemPoolGetAttribute
#define cudaMemPrefetchAsync hipMemPrefetchAsync
#define cudaMemPoolTrimTo hipMemPoolTrimTo
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpy2D hipMemcpy2D
#define cudaMemcpy2DAsync hipMemcpy2DAsync
#define cudaMemcpyPeer hipMemcpyPeer
#define cudaMemcpyPeerAsync hipMemcpyPeerAsync
#define cudaMemset hipMemset
#define cudaMemsetAsync hipMemsetAsync
#define cudaMemset2D hipMemset2D
#define cudaMemset2DAsync hipMemset2DAsync
#define cudaIpcGetMemHandle hipIpcGetMemHandle
#define cudaIpcOpenMemHandle hipIpcOpenMemHandle
#define cudaIpcCloseMemHandle hipIpcCloseMemHandle
#define cudaIpcGetEventHandle hipIpcGetEventHandle
#define cudaIpcOpenEventHandle hipIpcOpenEventHandle

// Types, constants and functions that have other names in HIP.
#define cudaError_t hipError_t
#define cudaDeviceProp hipDeviceProp_t
#define cudaFuncCache hipFuncCache_t
#define cudaHostAllocDefault hipHostMallocDefault
#define cudaHostAllocPortable hipHostMallocPortable
#define cudaHostAllocMapped hipHostMallocMapped
#define cudaHostAllocWriteCombined hipHostMallocWriteCombined
#define cudaHostAlloc hipHostMalloc
#define cudaFreeHost hipHostFree

// Error codes have the same numbers in CUDA and HIP.
#define PYGPU_CONSTANT(name, number) constexpr auto cuda##name = static_cast<hipError_t>(number);
PYGPU_CUDA_ERRORS(PYGPU_CONSTANT)
#undef PYGPU_CONSTANT

#define cudaStreamPerThread hipStreamPerThread
// The legacy stream is HIP's null stream. hipStreamLegacy (1), which newer headers have, is the
// same stream, but older runtimes of the same major version crash on that handle.
#define cudaStreamLegacy (static_cast<hipStream_t>(nullptr))
constexpr unsigned cudaHostRegisterReadOnly = 8;
constexpr unsigned cudaIpcMemLazyEnablePeerAccess = 1;

// Attributes have CUDA's numbers, which calls translate to HIP's. An attribute that HIP lacks gives
// an error.
#define PYGPU_ENUMERATOR(name, number) cuda##name = number,
enum cudaDeviceAttr : int { PYGPU_CUDA_DEVICE_ATTRIBUTES(PYGPU_ENUMERATOR) };
enum cudaDeviceP2PAttr : int { PYGPU_CUDA_P2P_ATTRIBUTES(PYGPU_ENUMERATOR) };
#undef PYGPU_ENUMERATOR

inline hipError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  switch (attribute) {
#define PYGPU_TRANSLATE(cuda_name, hip_name) \
  case cudaDevAttr##cuda_name:               \
    return hipDeviceGetAttribute(value, hipDeviceAttribute##hip_name, device);
#define PYGPU_SAME(name) PYGPU_TRANSLATE(name, name)
    PYGPU_HIP_DEVICE_ATTRIBUTES(PYGPU_SAME, PYGPU_TRANSLATE)
#undef PYGPU_SAME
#undef PYGPU_TRANSLATE
    default: break;
  }
  constexpr int limit = 1000;  // greater than all of CUDA's attributes
  return attribute > 0 && attribute < limit ? cudaErrorNotSupported : cudaErrorInvalidValue;
}

// HIP numbers the peer-to-peer attributes from 0, CUDA from 1.
static_assert(int(hipDevP2PAttrPerformanceRank) == cudaDevP2PAttrPerformanceRank - 1 &&
              int(hipDevP2PAttrAccessSupported) == cudaDevP2PAttrAccessSupported - 1 &&
              int(hipDevP2PAttrNativeAtomicSupported) == cudaDevP2PAttrNativeAtomicSupported - 1 &&
              int(hipDevP2PAttrHipArrayAccessSupported) ==
                  cudaDevP2PAttrCudaArrayAccessSupported - 1);

inline hipError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                            int peer) {
  if (device < 0 || peer < 0) return cudaErrorInvalidDevice;  // HIP reads out of bounds
  if (attribute < cudaDevP2PAttrPerformanceRank ||
      attribute > cudaDevP2PAttrCudaArrayAccessSupported)
    return cudaErrorInvalidValue;
  return hipDeviceGetP2PAttribute(value, static_cast<hipDeviceP2PAttr>(attribute - 1), device,
                                  peer);
}

inline hipError_t cudaMallocHost(void** address, size_t nbytes) {
  return hipHostMalloc(address, nbytes, hipHostMallocDefault);
}

// HIP gives the bit of cudaHostRegisterReadOnly another meaning: hipExtHostRegisterCoarseGrained.
inline hipError_t cudaHostRegister(void* address, size_t nbytes, unsigned flags) {
  if (flags & cudaHostRegisterReadOnly) return cudaErrorNotSupported;
  return hipHostRegister(address, nbytes, flags);
}

// Limits have the same numbers in CUDA and HIP. Older HIP has no name for the limit 0, the stack
// size.
using cudaLimit = hipLimit_t;
static_assert(int(hipLimitPrintfFifoSize) == 1 && int(hipLimitMallocHeapSize) == 2);
constexpr cudaLimit cudaLimitStackSize = static_cast<hipLimit_t>(0);

inline hipError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
#if HIP_VERSION >= 50300000
  return hipDeviceSetLimit(limit, value);
#else
  (void)value;
  return int(limit) >= 0 && int(limit) <= 2 ? cudaErrorNotSupported : cudaErrorInvalidValue;
#endif
}

// HIP 5.2 declares hipLaunchHostFunc, but its library may lack it. Its callbacks cannot be
// captured.
#if HIP_VERSION < 50300000
extern "C" __attribute__((weak)) hipError_t hipLaunchHostFunc(hipStream_t, hipHostFn_t, void*);
#endif
inline hipError_t cudaLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
#if HIP_VERSION < 50300000
  using Call = std::pair<hipHostFn_t, void*>;
  if (!hipLaunchHostFunc) {
    auto call = std::make_unique<Call>(function, data);
    const auto make = [](hipStream_t, hipError_t, void* given) {
      const std::unique_ptr<Call> owned(static_cast<Call*>(given));
      owned->first(owned->second);
    };
    const hipError_t error = hipStreamAddCallback(stream, make, call.get(), 0);
    if (error == hipSuccess) (void)call.release();
    return error;
  }
#endif
  return hipLaunchHostFunc(stream, function, data);
}

// Memory types with CUDA's numbers. HIP has others, which changed in ROCm 6.
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

inline hipError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  hipPointerAttribute_t found{};
  const hipError_t error = hipPointerGetAttributes(&found, address);
  if (error == hipErrorInvalidValue) {  // plain host memory
    (void)hipGetLastError();
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(address)};
    return hipSuccess;
  }
#if HIP_VERSION >= 60000000
  if (error == hipSuccess && found.type == hipMemoryTypeUnregistered) {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, const_cast<void*>(address)};
    return hipSuccess;
  }
  const bool on_device = found.type == hipMemoryTypeDevice;
  const bool is_managed = found.isManaged || found.type == hipMemoryTypeManaged;
#else
  const bool on_device = found.memoryType == hipMemoryTypeDevice;
  const bool is_managed = found.isManaged;
#endif
  const cudaMemoryType type = is_managed  ? cudaMemoryTypeManaged
                              : on_device ? cudaMemoryTypeDevice
                                          : cudaMemoryTypeHost;
  *attributes = {type, found.device, found.devicePointer, found.hostPointer};
  return error;
}

namespace PyGPU {
// Return the name of the device's architecture for compilers: "gfx90a" of
// "gfx90a:sramecc+:xnack-".
inline std::string architecture_name(const cudaDeviceProp& properties) {
  const std::string full = properties.gcnArchName;
  return full.substr(0, full.find(':'));
}

// Return the features of the device's architecture: "sramecc+:xnack-" of the name above.
inline std::string architecture_features(const cudaDeviceProp& properties) {
  const std::string full = properties.gcnArchName;
  const std::size_t colon = full.find(':');
  return colon == std::string::npos ? "" : full.substr(colon + 1);
}

// Write the device's UUID, 16 bytes.
inline cudaError_t device_uuid(char* bytes, int device) {
  hipUUID uuid{};
  const hipError_t error = hipDeviceGetUuid(&uuid, device);
  std::memcpy(bytes, uuid.bytes, 16);
  return error;
}
}  // namespace PyGPU
