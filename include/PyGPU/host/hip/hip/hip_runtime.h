// <hip/hip_runtime.h> for the `host` target: HIP's names for the runtime API, so that a HIP source
// builds for the host machine. Names whose meaning differs from CUDA's are at the end.
#pragma once

#include "../../runtime_api.h"
#include "hip_types.h"

// clang-format off
// Calls: macros, because some are templates and overloads.
#define hipDriverGetVersion cudaDriverGetVersion
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDevice cudaGetDevice
#define hipSetDevice cudaSetDevice
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDeviceReset cudaDeviceReset
#define hipDeviceGetPCIBusId cudaDeviceGetPCIBusId
#define hipDeviceGetByPCIBusId cudaDeviceGetByPCIBusId
#define hipDeviceGetLimit cudaDeviceGetLimit
#define hipDeviceSetLimit cudaDeviceSetLimit
#define hipDeviceGetCacheConfig cudaDeviceGetCacheConfig
#define hipDeviceSetCacheConfig cudaDeviceSetCacheConfig
#define hipDeviceSetSharedMemConfig cudaDeviceSetSharedMemConfig
#define hipDeviceGetSharedMemConfig cudaDeviceGetSharedMemConfig
#define hipDeviceGetStreamPriorityRange cudaDeviceGetStreamPriorityRange
#define hipGetDeviceFlags cudaGetDeviceFlags
#define hipSetDeviceFlags cudaSetDeviceFlags
#define hipDeviceCanAccessPeer cudaDeviceCanAccessPeer
#define hipDeviceGetP2PAttribute cudaDeviceGetP2PAttribute
#define hipDeviceEnablePeerAccess cudaDeviceEnablePeerAccess
#define hipDeviceDisablePeerAccess cudaDeviceDisablePeerAccess
#define hipMemGetInfo cudaMemGetInfo
#define hipChooseDevice cudaChooseDevice
#define hipGetLastError cudaGetLastError
#define hipPeekAtLastError cudaPeekAtLastError
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamQuery cudaStreamQuery
#define hipStreamIsCapturing cudaStreamIsCapturing
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipStreamGetFlags cudaStreamGetFlags
#define hipStreamGetPriority cudaStreamGetPriority
#define hipStreamAttachMemAsync cudaStreamAttachMemAsync
#define hipStreamAddCallback cudaStreamAddCallback
#define hipLaunchHostFunc cudaLaunchHostFunc
#define hipEventCreate cudaEventCreate
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDestroy cudaEventDestroy
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEventQuery cudaEventQuery
#define hipEventElapsedTime cudaEventElapsedTime
#define hipMalloc cudaMalloc
#define hipMallocPitch cudaMallocPitch
#define hipMallocManaged cudaMallocManaged
#define hipMallocAsync cudaMallocAsync
#define hipMallocFromPoolAsync cudaMallocFromPoolAsync
#define hipMalloc3D cudaMalloc3D
#define hipMallocArray cudaMallocArray
#define hipMalloc3DArray cudaMalloc3DArray
#define hipFree cudaFree
#define hipFreeAsync cudaFreeAsync
#define hipFreeArray cudaFreeArray
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipHostGetFlags cudaHostGetFlags
#define hipHostRegister cudaHostRegister
#define hipHostUnregister cudaHostUnregister
#define hipPointerGetAttributes cudaPointerGetAttributes
#define hipMemPrefetchAsync cudaMemPrefetchAsync
#define hipMemAdvise cudaMemAdvise
#define hipMemPoolCreate cudaMemPoolCreate
#define hipDeviceGetDefaultMemPool cudaDeviceGetDefaultMemPool
#define hipMemPoolSetAttribute cudaMemPoolSetAttribute
#define hipMemPoolGetAttribute cudaMemPoolGetAttribute
#define hipMemPoolSetAccess cudaMemPoolSetAccess
#define hipMemPoolTrimTo cudaMemPoolTrimTo
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpy2D cudaMemcpy2D
#define hipMemcpy2DAsync cudaMemcpy2DAsync
#define hipMemcpy3D cudaMemcpy3D
#define hipMemcpy3DAsync cudaMemcpy3DAsync
#define hipMemcpyPeer cudaMemcpyPeer
#define hipMemcpyPeerAsync cudaMemcpyPeerAsync
#define hipMemcpy2DToArray cudaMemcpy2DToArray
#define hipMemcpy2DFromArray cudaMemcpy2DFromArray
#define hipMemcpy2DToArrayAsync cudaMemcpy2DToArrayAsync
#define hipMemcpy2DFromArrayAsync cudaMemcpy2DFromArrayAsync
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync
#define hipMemset2D cudaMemset2D
#define hipMemset2DAsync cudaMemset2DAsync
#define hipMemset3D cudaMemset3D
#define hipMemset3DAsync cudaMemset3DAsync
#define hipGetSymbolAddress cudaGetSymbolAddress
#define hipGetSymbolSize cudaGetSymbolSize
#define hipMemcpyToSymbol cudaMemcpyToSymbol
#define hipMemcpyToSymbolAsync cudaMemcpyToSymbolAsync
#define hipMemcpyFromSymbol cudaMemcpyFromSymbol
#define hipMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipFuncSetCacheConfig cudaFuncSetCacheConfig
#define hipFuncSetSharedMemConfig cudaFuncSetSharedMemConfig
#define hipLaunchKernel cudaLaunchKernel
#define hipLaunchCooperativeKernel cudaLaunchCooperativeKernel
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
#define hipOccupancyMaxPotentialBlockSize cudaOccupancyMaxPotentialBlockSize
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamEndCapture cudaStreamEndCapture
#define hipThreadExchangeStreamCaptureMode cudaThreadExchangeStreamCaptureMode
#define hipGraphInstantiate cudaGraphInstantiate
#define hipGraphLaunch cudaGraphLaunch
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipCreateTextureObject cudaCreateTextureObject
#define hipDestroyTextureObject cudaDestroyTextureObject
#define hipCreateSurfaceObject cudaCreateSurfaceObject
#define hipDestroySurfaceObject cudaDestroySurfaceObject
#define hipCreateChannelDesc cudaCreateChannelDesc
#define hipProfilerStart cudaProfilerStart
#define hipProfilerStop cudaProfilerStop
// clang-format on

#define hipStreamPerThread cudaStreamPerThread
#define hipStreamLegacy cudaStreamLegacy

// Names that differ.
using hipFuncCache_t = cudaFuncCache;
using hipDeviceAttribute_t = cudaDeviceAttr;
using hipDeviceP2PAttr = cudaDeviceP2PAttr;
constexpr auto hipDevP2PAttrPerformanceRank = cudaDevP2PAttrPerformanceRank;
constexpr auto hipDevP2PAttrAccessSupported = cudaDevP2PAttrAccessSupported;
constexpr auto hipDevP2PAttrNativeAtomicSupported = cudaDevP2PAttrNativeAtomicSupported;
constexpr auto hipDevP2PAttrHipArrayAccessSupported = cudaDevP2PAttrCudaArrayAccessSupported;
using hipPointerAttribute_t = cudaPointerAttributes;
constexpr auto hipErrorOutOfMemory = cudaErrorMemoryAllocation;
constexpr auto hipErrorNotInitialized = cudaErrorInitializationError;
constexpr auto hipErrorInvalidHandle = cudaErrorInvalidResourceHandle;
constexpr auto hipErrorInvalidImage = cudaErrorInvalidKernelImage;
constexpr auto hipErrorNotFound = cudaErrorSymbolNotFound;
constexpr unsigned hipHostMallocDefault = cudaHostAllocDefault;
constexpr unsigned hipHostMallocPortable = cudaHostAllocPortable;
constexpr unsigned hipHostMallocMapped = cudaHostAllocMapped;
constexpr unsigned hipHostMallocWriteCombined = cudaHostAllocWriteCombined;
constexpr unsigned hipHostMallocCoherent = 0x40000000, hipHostMallocNonCoherent = 0x80000000;
constexpr unsigned hipEventDisableSystemFence = 0;

// Allocate page-locked memory; all of it is coherent.
template <class T>
hipError_t hipHostMalloc(T** address, std::size_t nbytes, unsigned flags = hipHostMallocDefault) {
  return cudaHostAlloc(reinterpret_cast<void**>(address), nbytes,
                       flags & ~(hipHostMallocCoherent | hipHostMallocNonCoherent));
}
#define hipHostAlloc hipHostMalloc
#define hipMallocHost hipHostMalloc
#define hipHostFree cudaFreeHost
#define hipFreeHost cudaFreeHost
#define hipMemcpyHtoD(dst, src, nbytes) cudaMemcpy(dst, src, nbytes, cudaMemcpyHostToDevice)
#define hipMemcpyDtoH(dst, src, nbytes) cudaMemcpy(dst, src, nbytes, cudaMemcpyDeviceToHost)
// A variable of device code is named as it is.
#define HIP_SYMBOL(variable) variable

struct hipDeviceProp_t : cudaDeviceProp {
  char gcnArchName[256];
};
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  const hipError_t error = cudaGetDeviceProperties(properties, device);
  std::strcpy(properties->gcnArchName, "host");
  return error;
}

// clang-format off
#define P_HIP_ATTRIBUTES(X)                                                                       \
  X(MaxThreadsPerBlock) X(MaxBlockDimX) X(MaxBlockDimY) X(MaxBlockDimZ) X(MaxGridDimX)            \
  X(MaxGridDimY) X(MaxGridDimZ) X(MaxSharedMemoryPerBlock) X(TotalConstantMemory) X(WarpSize)     \
  X(MaxRegistersPerBlock) X(ClockRate) X(MemoryClockRate) X(L2CacheSize)                          \
  X(MaxThreadsPerMultiProcessor) X(ComputeCapabilityMajor) X(ComputeCapabilityMinor)              \
  X(ConcurrentKernels) X(Integrated) X(ManagedMemory)
// clang-format on
#define P_HIP_ATTRIBUTE(name) constexpr auto hipDeviceAttribute##name = cudaDevAttr##name;
P_HIP_ATTRIBUTES(P_HIP_ATTRIBUTE)
#undef P_HIP_ATTRIBUTE
constexpr auto hipDeviceAttributeMultiprocessorCount = cudaDevAttrMultiProcessorCount;
inline hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return cudaDeviceGetAttribute(value, attribute, device);
}

#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...)                              \
  ((void)::PyGPU::host::launch([](auto&... P_arguments) { kernel(P_arguments...); }, grid, block, \
                               shared, stream, #kernel)(__VA_ARGS__))
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) PYGPU_DYNAMIC_SHARED(type, name);
#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)
