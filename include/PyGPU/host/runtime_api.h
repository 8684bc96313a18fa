// CUDA's runtime API for users' C++ code on the `host` target: calls that the machine does not need
// itself, and overloads for pointers of any type. <cuda_runtime.h> includes this header, and
// PyGPU.load puts it before each file of device code.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "../cuda_on_host.h"
#include "../vendor/host_arrays.h"
#include "../vendor/host_graphs.h"
#include "array_rows.h"

// CUDA's headers define these names. Sources ask by them what they have included, and an installed
// header of CUDA's leaves out what is here.
#define __BUILTIN_TYPES_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_TYPES_H__
#define __DRIVER_TYPES_H__
#define __HOST_DEFINES_H__
#define __SURFACE_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_TYPES_H__
#define CUDARTAPI
#define CUDART_CB

// Calls and types that the machine lacks: using one is a compile error that gives the reason.
#define PYGPU_HOST_LACKS(name, reason)                                                          \
  template <class... Arguments>                                                                 \
  cudaError_t name(Arguments&&...) {                                                            \
    static_assert(sizeof...(Arguments) == ~std::size_t(0), #name ": the host machine " reason); \
    return cudaErrorNotSupported;                                                               \
  }

PYGPU_HOST_LACKS(cudaLaunchCooperativeKernel, "cannot synchronize a whole grid")
PYGPU_HOST_LACKS(cudaLaunchKernelExC, "has no launch attributes")
PYGPU_HOST_LACKS(cudaMallocMipmappedArray, "has no mipmapped arrays")
PYGPU_HOST_LACKS(cudaImportExternalMemory, "shares no memory with other graphics interfaces")
PYGPU_HOST_LACKS(cudaImportExternalSemaphore, "shares no semaphores with other interfaces")
PYGPU_HOST_LACKS(cudaGraphicsGLRegisterBuffer, "has no graphics")
PYGPU_HOST_LACKS(cudaGraphCreate, "makes graphs by stream capture alone: cudaStreamBeginCapture")
PYGPU_HOST_LACKS(cudaGraphAddKernelNode, "makes graphs by stream capture alone")
PYGPU_HOST_LACKS(cudaBindTexture, "has no texture references, as CUDA 12: use texture objects")
PYGPU_HOST_LACKS(cudaBindTextureToArray,
                 "has no texture references, as CUDA 12: use texture objects")

// The number 0 converts to the null stream, as in CUDA; an enumerator would not.
#define cudaStreamDefault 0x00

using cudaError = cudaError_t;
using cudaArray = PyGPUHostArray;
using cudaArray_const_t = const PyGPUHostArray*;

// ---- Memory ----

template <class T>
cudaError_t cudaMallocPitch(T** address, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return cudaMallocPitch((void**)(address), pitch, width, height);
}
template <class T>
cudaError_t cudaMallocHost(T** address, std::size_t nbytes, unsigned flags) {
  return cudaHostAlloc((void**)(address), nbytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** address, std::size_t nbytes, unsigned flags) {
  return cudaHostAlloc((void**)(address), nbytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device_address, void* address, unsigned flags) {
  return cudaHostGetDevicePointer((void**)(device_address), address, flags);
}
template <class T>
cudaError_t cudaMallocAsync(T** address, std::size_t nbytes, cudaStream_t stream) {
  return cudaMallocAsync((void**)(address), nbytes, stream);
}
template <class T>
cudaError_t cudaMallocAsync(T** address, std::size_t nbytes, cudaMemPool_t pool,
                            cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)(address), nbytes, pool, stream);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** address, std::size_t nbytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)(address), nbytes, pool, stream);
}

inline cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  *memory = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&memory->ptr, &memory->pitch, extent.width, extent.height * extent.depth);
}
inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                                     cudaStream_t stream = nullptr) {
  for (std::size_t slice = 0; slice < extent.depth; ++slice) {
    char* const first = static_cast<char*>(memory.ptr) + slice * memory.pitch * memory.ysize;
    if (const cudaError_t error =
            cudaMemset2DAsync(first, memory.pitch, value, extent.width, extent.height, stream))
      return error;
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return cudaMemset3DAsync(memory, value, extent);
}

// Copy bytes in the order of an array's rows, from a position in bytes and rows on.
inline cudaError_t PyGPU_copy_array_bytes(cudaArray_t array, std::size_t x, std::size_t y,
                                          char* memory, std::size_t nbytes, bool to_array,
                                          cudaMemcpyKind kind) {
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags = 0;
  if (const cudaError_t error = cudaArrayGetInfo(&format, &extent, &flags, array)) return error;
  const std::size_t row = extent.width * std::size_t(format.x + format.y + format.z + format.w) / 8;
  while (nbytes > 0) {
    const bool is_whole = x == 0 && nbytes >= row;
    const std::size_t rows = is_whole ? nbytes / row : 1;
    const std::size_t width = is_whole ? row : std::min(nbytes, row - std::min(x, row));
    if (width == 0) return cudaErrorInvalidValue;
    if (const cudaError_t error =
            cudaHostCopyRows(array, x, y, memory, width, width, rows, to_array, kind))
      return error;
    memory += width * rows;
    nbytes -= width * rows;
    y += rows;
    x = 0;
  }
  return cudaSuccess;
}
inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  cudaExtent extent;
  unsigned flags = 0;
  return cudaArrayGetInfo(format, &extent, &flags, const_cast<cudaArray_t>(array));
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t dst, std::size_t x, std::size_t y, const void* src,
                                     std::size_t nbytes, cudaMemcpyKind kind) {
  char* const memory = static_cast<char*>(const_cast<void*>(src));
  return PyGPU_copy_array_bytes(dst, x, y, memory, nbytes, true, kind);
}
inline cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_t src, std::size_t x, std::size_t y,
                                       std::size_t nbytes, cudaMemcpyKind kind) {
  return PyGPU_copy_array_bytes(src, x, y, static_cast<char*>(dst), nbytes, false, kind);
}

enum cudaMemoryAdvise : int {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6
};
// Check the arguments as a prefetch does: all memory is in one place, so advice changes nothing.
inline cudaError_t cudaMemAdvise(const void* address, std::size_t nbytes, cudaMemoryAdvise,
                                 int device) {
  return cudaMemPrefetchAsync(address, nbytes, device, nullptr);
}

// ---- Symbols: variables that are declared __device__, __constant__ or __managed__ ----

template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* nbytes, const T&) {
  *nbytes = sizeof(T);
  return cudaSuccess;
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** address, const T& symbol) {
  void* const found = const_cast<void*>(static_cast<const volatile void*>(&symbol));
  *address = static_cast<P*>(found);
  return cudaHostVariable(found, sizeof(T));
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, std::size_t nbytes,
                                    std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
    return cudaErrorInvalidMemcpyDirection;
  char* dst = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&dst, symbol);
  return error ? error : cudaMemcpyAsync(dst + offset, src, nbytes, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, std::size_t nbytes,
                               std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
    return cudaErrorInvalidMemcpyDirection;
  char* dst = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&dst, symbol);
  return error ? error : cudaMemcpy(dst + offset, src, nbytes, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, std::size_t nbytes,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
    return cudaErrorInvalidMemcpyDirection;
  char* src = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&src, symbol);
  return error ? error : cudaMemcpyAsync(dst, src + offset, nbytes, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, std::size_t nbytes,
                                 std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
    return cudaErrorInvalidMemcpyDirection;
  char* src = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&src, symbol);
  return error ? error : cudaMemcpy(dst, src + offset, nbytes, kind);
}

// ---- Kernels ----

enum cudaFuncAttribute : int {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
constexpr unsigned cudaDeviceBlockingSync = cudaDeviceScheduleBlockingSync;
enum cudaComputeMode : int {
  cudaComputeModeDefault = 0,
  cudaComputeModeExclusive = 1,
  cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3
};
enum cudaSharedCarveout : int {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100
};
enum cudaSharedMemConfig : int {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
};
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};
namespace PyGPU::host {
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  (void)cudaGetDevice(&device);
  (void)cudaDeviceGetAttribute(&value, attribute, device);
  return value;
}
}  // namespace PyGPU::host

// Shared variables are thread-local data, whose bytes are unknown here and reported as 0.
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  using PyGPU::host::device_attribute;
  *attributes = {};
  attributes->maxThreadsPerBlock = device_attribute(cudaDevAttrMaxThreadsPerBlock);
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return cudaSuccess;
}
// Check the value only: every kernel may use all of a block's shared memory.
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute attribute, int value) {
  const bool is_size = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize;
  const int most =
      is_size ? PyGPU::host::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) : 100;
  return value >= (is_size ? 0 : -1) && value <= most ? cudaSuccess : cudaErrorInvalidValue;
}
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel*, cudaFuncCache) {
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetSharedMemConfig(Kernel*, cudaSharedMemConfig) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

// A core runs one block at a time.
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int block_size,
                                                          std::size_t shared_bytes) {
  using PyGPU::host::device_attribute;
  if (block_size < 1) return cudaErrorInvalidValue;
  const std::size_t most = std::size_t(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  *blocks = block_size <= device_attribute(cudaDevAttrMaxThreadsPerBlock) && shared_bytes <= most;
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel* kernel,
                                                                   int block_size,
                                                                   std::size_t shared_bytes,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, shared_bytes);
}
template <class Size, class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Kernel*, Size,
                                                           int limit = 0) {
  using PyGPU::host::device_attribute;
  *grid = device_attribute(cudaDevAttrMultiProcessorCount);
  *block = device_attribute(cudaDevAttrMaxThreadsPerBlock);
  if (limit > 0 && limit < *block) *block = limit;
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* kernel,
                                               std::size_t shared_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, shared_bytes, limit);
}

namespace PyGPU::host {
template <class... Parameters, std::size_t... i>
cudaError_t launch_at(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                      [[maybe_unused]] void** arguments, std::size_t shared_bytes,
                      cudaStream_t stream, std::index_sequence<i...>) {
  return launch(kernel, grid, block, shared_bytes, stream,
                "")(*static_cast<std::remove_cv_t<Parameters>*>(arguments[i])...);
}
}  // namespace PyGPU::host

// Launch a kernel whose arguments are at these addresses.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return PyGPU::host::launch_at(kernel, grid, block, arguments, shared_bytes, stream,
                                std::index_sequence_for<Parameters...>());
}
template <class Address, class = std::enable_if_t<std::is_void<Address>::value>>
cudaError_t cudaLaunchKernel(Address*, dim3, dim3, void**, std::size_t = 0,
                             cudaStream_t = nullptr) {
  static_assert(!std::is_void<Address>::value,
                "cudaLaunchKernel: the host machine needs the kernel's type, so pass the kernel "
                "without a cast to void*");
  return cudaErrorNotSupported;
}

// ---- Streams, events, graphs, devices ----

enum : unsigned { cudaEventWaitDefault = 0, cudaEventRecordDefault = 0 };
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                            unsigned = 0) {
  return cudaEventRecord(event, stream);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                        unsigned long long = 0) {
  return cudaHostGraphInstantiate(exec, graph);
}
// The form of CUDA before 12.
template <class Node>
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, Node, char*,
                                 std::size_t) {
  return cudaHostGraphInstantiate(exec, graph);
}

// Choose a device: all are alike.
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  return cudaGetDevice(device);
}
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
inline cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
