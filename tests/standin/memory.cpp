// Memory, copies and fills of the stand-in.
#include "machine.h"

using namespace standin;

namespace {

template <class Handle, class Other>
Handle same_bytes(const Other& handle) {
  static_assert(sizeof(Handle) == sizeof(Other));
  Handle same;
  std::memcpy(&same, &handle, sizeof same);
  return same;
}

cudaMemPool_t pool_of(hipMemPool_t pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

// A call of the stream-ordered allocator, where there is one.
template <class Call>
hipError_t with_pools(Call call) {
  return has_pools() ? finish(call()) : finish(hipErrorNotSupported);
}

}  // namespace

extern "C" {
STANDIN_EXPORT hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  return finish(cudaMemGetInfo(free, total));
}
STANDIN_EXPORT hipError_t hipMalloc(void** address, size_t nbytes) {
  return finish(cudaMalloc(address, nbytes));
}
STANDIN_EXPORT hipError_t hipMallocPitch(void** address, size_t* pitch, size_t width,
                                         size_t height) {
  return finish(cudaMallocPitch(address, pitch, width, height));
}
STANDIN_EXPORT hipError_t hipMallocManaged(void** address, size_t nbytes, unsigned flags) {
  return finish(cudaMallocManaged(address, nbytes, flags));
}
STANDIN_EXPORT hipError_t hipFree(void* address) { return finish(cudaFree(address)); }
STANDIN_EXPORT hipError_t hipHostMalloc(void** address, size_t nbytes, unsigned flags) {
  return finish(cudaHostAlloc(address, nbytes, flags));
}
STANDIN_EXPORT hipError_t hipHostFree(void* address) { return finish(cudaFreeHost(address)); }
STANDIN_EXPORT hipError_t hipHostGetDevicePointer(void** found, void* address, unsigned flags) {
  return finish(cudaHostGetDevicePointer(found, address, flags));
}
STANDIN_EXPORT hipError_t hipHostGetFlags(unsigned* flags, void* address) {
  return finish(cudaHostGetFlags(flags, address));
}
STANDIN_EXPORT hipError_t hipHostRegister(void* address, size_t nbytes, unsigned flags) {
  return finish(cudaHostRegister(address, nbytes, flags));
}
STANDIN_EXPORT hipError_t hipHostUnregister(void* address) {
  return finish(cudaHostUnregister(address));
}
STANDIN_EXPORT hipError_t hipPointerGetAttributes(hipPointerAttribute_t* to, const void* address) {
  cudaPointerAttributes from{};
  if (!to) return finish(hipErrorInvalidValue);
  if (const cudaError_t error = cudaPointerGetAttributes(&from, address)) return finish(error);
  *to = {};
#if HIP_VERSION >= 60000000
  to->type = static_cast<hipMemoryType>(from.type);  // the numbers are CUDA's
  static_assert(hipMemoryTypeUnregistered == 0 && hipMemoryTypeManaged == 3);
#else
  if (from.type == cudaMemoryTypeUnregistered) return finish(hipErrorInvalidValue);
  to->memoryType = from.type == cudaMemoryTypeDevice ? hipMemoryTypeDevice : hipMemoryTypeHost;
#endif
  to->device = from.device;
  to->devicePointer = from.devicePointer;
  to->hostPointer = from.hostPointer;
  to->isManaged = from.type == cudaMemoryTypeManaged;
  return finish(hipSuccess);
}
STANDIN_EXPORT hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* nbytes,
                                                hipDeviceptr_t address) {
  const cudaError_t error = cudaHostAddressRange(base, nbytes, address);
  return finish(error ? hipErrorNotFound : hipSuccess);
}
STANDIN_EXPORT hipError_t hipMemPrefetchAsync(const void* address, size_t nbytes, int device,
                                              hipStream_t stream) {
  return finish(cudaMemPrefetchAsync(address, nbytes, device, stream_of(stream)));
}

STANDIN_EXPORT hipError_t hipMallocAsync(void** address, size_t nbytes, hipStream_t stream) {
  return with_pools([=] { return cudaMallocAsync(address, nbytes, stream_of(stream)); });
}
STANDIN_EXPORT hipError_t hipMallocFromPoolAsync(void** address, size_t nbytes, hipMemPool_t pool,
                                                 hipStream_t stream) {
  return with_pools(
      [=] { return cudaMallocFromPoolAsync(address, nbytes, pool_of(pool), stream_of(stream)); });
}
STANDIN_EXPORT hipError_t hipFreeAsync(void* address, hipStream_t stream) {
  if (!address && HIP_VERSION_MAJOR < 7) return finish(hipErrorInvalidValue);
  return with_pools([=] { return cudaFreeAsync(address, stream_of(stream)); });
}
STANDIN_EXPORT hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return with_pools(
      [=] { return cudaDeviceGetDefaultMemPool(reinterpret_cast<cudaMemPool_t*>(pool), device); });
}
STANDIN_EXPORT hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* asked) {
  if (!asked || asked->allocType != hipMemAllocationTypePinned ||
      asked->location.type != hipMemLocationTypeDevice)
    return finish(hipErrorInvalidValue);
  if (HIP_VERSION_MAJOR >= 7 && forbids_pools()) return finish(hipErrorStreamCaptureUnsupported);
  const cudaMemPoolProps properties{cudaMemAllocationTypePinned,
                                    {cudaMemLocationTypeDevice, asked->location.id}};
  return with_pools(
      [&] { return cudaMemPoolCreate(reinterpret_cast<cudaMemPool_t*>(pool), &properties); });
}
STANDIN_EXPORT hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr name,
                                                 void* value) {
  return with_pools([=] {
    return cudaMemPoolSetAttribute(pool_of(pool), static_cast<cudaMemPoolAttr>(name), value);
  });
}
STANDIN_EXPORT hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr name,
                                                 void* value) {
  return with_pools([=] {
    return cudaMemPoolGetAttribute(pool_of(pool), static_cast<cudaMemPoolAttr>(name), value);
  });
}
STANDIN_EXPORT hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* access,
                                              size_t count) {
  static_assert(sizeof(cudaMemAccessDesc) == sizeof(hipMemAccessDesc));
  return with_pools([=] {
    return cudaMemPoolSetAccess(pool_of(pool), reinterpret_cast<const cudaMemAccessDesc*>(access),
                                count);
  });
}
STANDIN_EXPORT hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep) {
  return with_pools([=] { return cudaMemPoolTrimTo(pool_of(pool), keep); });
}

STANDIN_EXPORT hipError_t hipMemcpy(void* to, const void* from, size_t nbytes, hipMemcpyKind kind) {
  return finish(cudaMemcpy(to, from, nbytes, kind_of(kind)));
}
STANDIN_EXPORT hipError_t hipMemcpyAsync(void* to, const void* from, size_t nbytes,
                                         hipMemcpyKind kind, hipStream_t stream) {
  return finish(cudaMemcpyAsync(to, from, nbytes, kind_of(kind), stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from,
                                      size_t from_pitch, size_t width, size_t height,
                                      hipMemcpyKind kind) {
  return finish(cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind_of(kind)));
}
STANDIN_EXPORT hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                           size_t from_pitch, size_t width, size_t height,
                                           hipMemcpyKind kind, hipStream_t stream) {
  return finish(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind_of(kind),
                                  stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                        size_t nbytes) {
  return finish(cudaMemcpyPeer(to, to_device, from, from_device, nbytes));
}
STANDIN_EXPORT hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from,
                                             int from_device, size_t nbytes, hipStream_t stream) {
  return finish(cudaMemcpyPeerAsync(to, to_device, from, from_device, nbytes, stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipMemset(void* address, int value, size_t nbytes) {
  return finish(cudaMemset(address, value, nbytes));
}
STANDIN_EXPORT hipError_t hipMemsetAsync(void* address, int value, size_t nbytes,
                                         hipStream_t stream) {
  return finish(cudaMemsetAsync(address, value, nbytes, stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipMemset2D(void* address, size_t pitch, int value, size_t width,
                                      size_t height) {
  return finish(cudaMemset2D(address, pitch, value, width, height));
}
STANDIN_EXPORT hipError_t hipMemset2DAsync(void* address, size_t pitch, int value, size_t width,
                                           size_t height, hipStream_t stream) {
  return finish(cudaMemset2DAsync(address, pitch, value, width, height, stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipMemsetD16Async(hipDeviceptr_t address, unsigned short value,
                                            size_t count, hipStream_t stream) {
  return finish(PyGPU::fill_rows(address, 0, value, 2, count, 1, stream_of(stream)));
}
STANDIN_EXPORT hipError_t hipMemsetD32Async(hipDeviceptr_t address, int value, size_t count,
                                            hipStream_t stream) {
  return finish(PyGPU::fill_rows(address, 0, unsigned(value), 4, count, 1, stream_of(stream)));
}

STANDIN_EXPORT hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* address) {
  return finish(cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(handle), address));
}
STANDIN_EXPORT hipError_t hipIpcOpenMemHandle(void** address, hipIpcMemHandle_t handle,
                                              unsigned flags) {
  return finish(cudaIpcOpenMemHandle(address, same_bytes<cudaIpcMemHandle_t>(handle), flags));
}
STANDIN_EXPORT hipError_t hipIpcCloseMemHandle(void* address) {
  return finish(cudaIpcCloseMemHandle(address));
}
}
