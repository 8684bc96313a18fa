// The `host` target: CUDA's runtime vocabulary over PyGPU's host machine (libPyGPU_host), for
// computers without a GPU. The calls have the runtime API's parameters and return its error codes.
// Their symbols have a prefix, so that the library never collides with a real libcudart in the
// process.
#pragma once

#include <cstddef>
#include <cstring>

#include "cuda_numbers.h"

#define PYGPU_TARGET_NAME "host"
#define PYGPU_HAVE_GPU 0

#define CUDART_VERSION 12080  // version of CUDA that these headers follow
// Version of nvcc, which sources ask for as well. A build may set another.
#if defined(__CUDACC__) && !defined(__CUDACC_VER_MAJOR__)
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#endif

enum cudaError_t : int {
#define PYGPU_ENUMERATOR(name, number) cuda##name = number,
  PYGPU_CUDA_ERRORS(PYGPU_ENUMERATOR)
};

enum cudaDeviceAttr : int { PYGPU_CUDA_DEVICE_ATTRIBUTES(PYGPU_ENUMERATOR) };
enum cudaDeviceP2PAttr : int { PYGPU_CUDA_P2P_ATTRIBUTES(PYGPU_ENUMERATOR) };
#undef PYGPU_ENUMERATOR

enum cudaStreamCaptureStatus : int {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};

enum cudaMemcpyKind : int {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaMemoryType : int {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};

enum cudaLimit : int {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4
};

enum cudaFuncCache : int {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};

enum cudaMemAllocationType : int { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType : int { cudaMemLocationTypeDevice = 1 };
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemLocation location;
};
enum cudaMemAccessFlags : int {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
enum cudaMemPoolAttr : int {
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};

enum : unsigned {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaEventInterprocess = 4,
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaHostRegisterDefault = 0,
  cudaHostRegisterPortable = 1,
  cudaHostRegisterMapped = 2,
  cudaHostRegisterIoMemory = 4,
  cudaHostRegisterReadOnly = 8,
  cudaMemAttachGlobal = 1,
  cudaMemAttachHost = 2,
  cudaMemAttachSingle = 4,
  cudaDeviceScheduleAuto = 0,
  cudaDeviceScheduleSpin = 1,
  cudaDeviceScheduleYield = 2,
  cudaDeviceScheduleBlockingSync = 4,
  cudaDeviceMapHost = 8,
  cudaDeviceLmemResizeToMax = 16,
  cudaIpcMemLazyEnablePeerAccess = 1
};

constexpr int cudaCpuDeviceId = -1;

using cudaStream_t = struct PyGPUHostStream*;
using cudaEvent_t = struct PyGPUHostEvent*;
using cudaMemPool_t = struct PyGPUHostPool*;

#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
// Stream for launches by kernels only.
#define cudaStreamTailLaunch (reinterpret_cast<cudaStream_t>(3))
#define cudaStreamFireAndForget (reinterpret_cast<cudaStream_t>(4))

struct cudaUUID_t {
  char bytes[16];
};

struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
  std::size_t sharedMemPerMultiprocessor, reservedSharedMemPerBlock, totalConstMem, memPitch;
  std::size_t textureAlignment, texturePitchAlignment, surfaceAlignment;
  int major, minor;
  int warpSize, multiProcessorCount;
  int pciBusID, pciDeviceID, pciDomainID;
  int regsPerBlock, regsPerMultiprocessor;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
  int clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int deviceOverlap, asyncEngineCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory;
  int computeMode, concurrentKernels, ECCEnabled, tccDriver, unifiedAddressing, managedMemory;
  int isMultiGpuBoard, multiGpuBoardGroupID, streamPrioritiesSupported, globalL1CacheSupported;
  int localL1CacheSupported, pageableMemoryAccess, concurrentManagedAccess;
  int computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
  int cooperativeMultiDeviceLaunch, singleToDoublePrecisionPerfRatio,
      directManagedMemAccessFromHost;
  int hostNativeAtomicSupported, pageableMemoryAccessUsesHostPageTables, hostRegisterSupported;
  int memoryPoolsSupported, accessPolicyMaxWindowSize;
  int maxTexture1D, maxTexture2D[2], maxTexture3D[3];
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// Declare a call `name(arguments)` that returns an error; its symbol is PyGPU_host_<name>. Used
// here and in host_*.h.
#define PYGPU_HOST_CALL(name, ...)                  \
  extern "C" __attribute__((visibility("default"))) \
  cudaError_t name(__VA_ARGS__) __asm__("PyGPU_host_" #name);

PYGPU_HOST_CALL(cudaGetLastError, void)
PYGPU_HOST_CALL(cudaPeekAtLastError, void)
PYGPU_HOST_CALL(cudaDriverGetVersion, int* version)
PYGPU_HOST_CALL(cudaRuntimeGetVersion, int* version)

PYGPU_HOST_CALL(cudaGetDeviceCount, int* count)
PYGPU_HOST_CALL(cudaGetDevice, int* device)
PYGPU_HOST_CALL(cudaSetDevice, int device)
PYGPU_HOST_CALL(cudaDeviceSynchronize, void)
PYGPU_HOST_CALL(cudaDeviceReset, void)
PYGPU_HOST_CALL(cudaGetDeviceProperties, cudaDeviceProp* properties, int device)
PYGPU_HOST_CALL(cudaDeviceGetAttribute, int* value, cudaDeviceAttr attribute, int device)
PYGPU_HOST_CALL(cudaDeviceGetByPCIBusId, int* device, const char* id)
PYGPU_HOST_CALL(cudaDeviceGetPCIBusId, char* id, int length, int device)
PYGPU_HOST_CALL(cudaDeviceGetLimit, std::size_t* value, cudaLimit limit)
PYGPU_HOST_CALL(cudaDeviceSetLimit, cudaLimit limit, std::size_t value)
PYGPU_HOST_CALL(cudaDeviceGetCacheConfig, cudaFuncCache* config)
PYGPU_HOST_CALL(cudaDeviceSetCacheConfig, cudaFuncCache config)
PYGPU_HOST_CALL(cudaDeviceGetStreamPriorityRange, int* least, int* greatest)
PYGPU_HOST_CALL(cudaGetDeviceFlags, unsigned* flags)
PYGPU_HOST_CALL(cudaSetDeviceFlags, unsigned flags)
PYGPU_HOST_CALL(cudaDeviceCanAccessPeer, int* can, int device, int peer)
PYGPU_HOST_CALL(cudaDeviceGetP2PAttribute, int* value, cudaDeviceP2PAttr attribute, int device,
                int peer)
PYGPU_HOST_CALL(cudaDeviceEnablePeerAccess, int peer, unsigned flags = 0)
PYGPU_HOST_CALL(cudaDeviceDisablePeerAccess, int peer)
PYGPU_HOST_CALL(cudaMemGetInfo, std::size_t* free, std::size_t* total)

PYGPU_HOST_CALL(cudaStreamCreateWithPriority, cudaStream_t* stream, unsigned flags, int priority)
PYGPU_HOST_CALL(cudaStreamDestroy, cudaStream_t stream)
PYGPU_HOST_CALL(cudaStreamSynchronize, cudaStream_t stream)
PYGPU_HOST_CALL(cudaStreamQuery, cudaStream_t stream)
PYGPU_HOST_CALL(cudaStreamIsCapturing, cudaStream_t stream, cudaStreamCaptureStatus* status)
PYGPU_HOST_CALL(cudaStreamWaitEvent, cudaStream_t stream, cudaEvent_t event, unsigned flags = 0)
PYGPU_HOST_CALL(cudaStreamGetFlags, cudaStream_t stream, unsigned* flags)
PYGPU_HOST_CALL(cudaStreamGetPriority, cudaStream_t stream, int* priority)
PYGPU_HOST_CALL(cudaStreamAttachMemAsync, cudaStream_t stream, void* address,
                std::size_t nbytes = 0, unsigned flags = cudaMemAttachSingle)

using cudaHostFn_t = void (*)(void* data);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);
PYGPU_HOST_CALL(cudaLaunchHostFunc, cudaStream_t stream, cudaHostFn_t function, void* data)
PYGPU_HOST_CALL(cudaStreamAddCallback, cudaStream_t stream, cudaStreamCallback_t callback,
                void* data, unsigned flags)

PYGPU_HOST_CALL(cudaEventCreateWithFlags, cudaEvent_t* event, unsigned flags)
PYGPU_HOST_CALL(cudaEventDestroy, cudaEvent_t event)
PYGPU_HOST_CALL(cudaEventRecord, cudaEvent_t event, cudaStream_t stream = nullptr)
PYGPU_HOST_CALL(cudaEventSynchronize, cudaEvent_t event)
PYGPU_HOST_CALL(cudaEventQuery, cudaEvent_t event)
PYGPU_HOST_CALL(cudaEventElapsedTime, float* milliseconds, cudaEvent_t start, cudaEvent_t end)

PYGPU_HOST_CALL(cudaMalloc, void** address, std::size_t nbytes)
PYGPU_HOST_CALL(cudaMallocPitch, void** address, std::size_t* pitch, std::size_t width,
                std::size_t height)
PYGPU_HOST_CALL(cudaMallocManaged, void** address, std::size_t nbytes, unsigned flags)
PYGPU_HOST_CALL(cudaMemPrefetchAsync, const void* address, std::size_t nbytes, int device,
                cudaStream_t stream = nullptr)
PYGPU_HOST_CALL(cudaMallocAsync, void** address, std::size_t nbytes, cudaStream_t stream)
PYGPU_HOST_CALL(cudaMallocFromPoolAsync, void** address, std::size_t nbytes, cudaMemPool_t pool,
                cudaStream_t stream)
PYGPU_HOST_CALL(cudaFree, void* address)
PYGPU_HOST_CALL(cudaFreeAsync, void* address, cudaStream_t stream)
PYGPU_HOST_CALL(cudaMallocHost, void** address, std::size_t nbytes)
PYGPU_HOST_CALL(cudaHostAlloc, void** address, std::size_t nbytes, unsigned flags)
PYGPU_HOST_CALL(cudaFreeHost, void* address)
PYGPU_HOST_CALL(cudaHostGetDevicePointer, void** device_address, void* address, unsigned flags)
PYGPU_HOST_CALL(cudaHostGetFlags, unsigned* flags, void* address)
PYGPU_HOST_CALL(cudaHostRegister, void* address, std::size_t nbytes, unsigned flags)
PYGPU_HOST_CALL(cudaHostUnregister, void* address)
PYGPU_HOST_CALL(cudaPointerGetAttributes, cudaPointerAttributes* attributes, const void* address)

// Let copies access a variable of device code, as device memory.
PYGPU_HOST_CALL(cudaHostVariable, void* address, std::size_t nbytes)

PYGPU_HOST_CALL(cudaMemPoolCreate, cudaMemPool_t* pool, const cudaMemPoolProps* properties)
PYGPU_HOST_CALL(cudaDeviceGetDefaultMemPool, cudaMemPool_t* pool, int device)
PYGPU_HOST_CALL(cudaMemPoolSetAttribute, cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value)
PYGPU_HOST_CALL(cudaMemPoolGetAttribute, cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value)
PYGPU_HOST_CALL(cudaMemPoolSetAccess, cudaMemPool_t pool, const cudaMemAccessDesc* access,
                std::size_t count)
PYGPU_HOST_CALL(cudaMemPoolTrimTo, cudaMemPool_t pool, std::size_t keep)

PYGPU_HOST_CALL(cudaMemcpy, void* dst, const void* src, std::size_t nbytes, cudaMemcpyKind kind)
PYGPU_HOST_CALL(cudaMemcpyAsync, void* dst, const void* src, std::size_t nbytes,
                cudaMemcpyKind kind, cudaStream_t stream = nullptr)
PYGPU_HOST_CALL(cudaMemcpy2D, void* dst, std::size_t dst_pitch, const void* src,
                std::size_t src_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind)
PYGPU_HOST_CALL(cudaMemcpy2DAsync, void* dst, std::size_t dst_pitch, const void* src,
                std::size_t src_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                cudaStream_t stream = nullptr)
PYGPU_HOST_CALL(cudaMemcpyPeer, void* dst, int dst_device, const void* src, int src_device,
                std::size_t nbytes)
PYGPU_HOST_CALL(cudaMemcpyPeerAsync, void* dst, int dst_device, const void* src, int src_device,
                std::size_t nbytes, cudaStream_t stream = nullptr)
PYGPU_HOST_CALL(cudaMemset, void* address, int value, std::size_t nbytes)
PYGPU_HOST_CALL(cudaMemsetAsync, void* address, int value, std::size_t nbytes,
                cudaStream_t stream = nullptr)
PYGPU_HOST_CALL(cudaMemset2D, void* address, std::size_t pitch, int value, std::size_t width,
                std::size_t height)
PYGPU_HOST_CALL(cudaMemset2DAsync, void* address, std::size_t pitch, int value, std::size_t width,
                std::size_t height, cudaStream_t stream = nullptr)

PYGPU_HOST_CALL(cudaIpcGetMemHandle, cudaIpcMemHandle_t* handle, void* address)
PYGPU_HOST_CALL(cudaIpcOpenMemHandle, void** address, cudaIpcMemHandle_t handle, unsigned flags)
PYGPU_HOST_CALL(cudaIpcCloseMemHandle, void* address)
PYGPU_HOST_CALL(cudaIpcGetEventHandle, cudaIpcEventHandle_t* handle, cudaEvent_t event)
PYGPU_HOST_CALL(cudaIpcOpenEventHandle, cudaEvent_t* event, cudaIpcEventHandle_t handle)

// Run `threads(context)` for each block of the grid; the blocks are distributed over the cores. The
// function runs the block's threads by PyGPU::host::for_each_thread (host/execution.h). Reports
// name the `kernel`. While the stream is captured, the `context_bytes` of `context` are copied.
PYGPU_HOST_CALL(cudaHostLaunch, dim3 grid, dim3 block, std::size_t shared_bytes,
                cudaStream_t stream, void (*threads)(void*), void* context, const char* kernel,
                std::size_t context_bytes)
// Do the same from a kernel, after its grid has run; `context` is copied.
PYGPU_HOST_CALL(cudaHostLaunchChild, dim3 grid, dim3 block, std::size_t shared_bytes,
                cudaStream_t stream, void (*threads)(void*), const void* context,
                std::size_t context_bytes, const char* kernel)

extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorName(
    cudaError_t error) __asm__("PyGPU_host_cudaGetErrorName");
extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorString(
    cudaError_t error) __asm__("PyGPU_host_cudaGetErrorString");
// Return the report of the calling thread's last failed launch; "" if there is none.
extern "C" __attribute__((visibility("default"))) const char* cudaHostLastReport() __asm__(
    "PyGPU_host_cudaHostLastReport");

template <class T>
cudaError_t cudaMalloc(T** address, std::size_t nbytes) {
  return cudaMalloc((void**)(address), nbytes);
}
template <class T>
cudaError_t cudaMallocHost(T** address, std::size_t nbytes) {
  return cudaMallocHost((void**)(address), nbytes);
}
template <class T>
cudaError_t cudaMallocManaged(T** address, std::size_t nbytes,
                              unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void**)(address), nbytes, flags);
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

namespace PyGPU {
// Return the name of the device's architecture for compilers.
inline const char* architecture_name(const cudaDeviceProp&) { return "host"; }
inline const char* architecture_features(const cudaDeviceProp&) { return ""; }

// Write the device's UUID, 16 bytes.
inline cudaError_t device_uuid(char* bytes, int device) {
  cudaDeviceProp properties{};
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  std::memcpy(bytes, properties.uuid.bytes, 16);
  return error;
}
}  // namespace PyGPU
