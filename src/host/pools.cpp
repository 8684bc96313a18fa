// Memory pools of the host machine.
#include <mutex>

#include "capture.h"
#include "machine.h"
#include "pages.h"

using namespace PyGPU::host;

// Create a pool. Pools are never destroyed, because PyGPU creates one per device.
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    Machine& machine = Machine::get();
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
        properties->location.type != cudaMemLocationTypeDevice)
      return cudaErrorInvalidValue;
    const int device = properties->location.id;
    if (!machine.has_device(device)) return cudaErrorInvalidDevice;
    *pool = new PyGPUHostPool{device};
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call([&] {
    Machine& machine = Machine::get();
    if (!pool) return cudaErrorInvalidValue;
    if (!machine.has_device(device)) return cudaErrorInvalidDevice;
    *pool = &machine.devices[std::size_t(device)].pool;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    if (!pool || !value) return cudaErrorInvalidValue;
    const std::uint64_t number = *static_cast<std::uint64_t*>(value);
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    switch (attribute) {
      case cudaMemPoolAttrReleaseThreshold: pool->release_threshold = number; return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
      case cudaMemPoolAttrReservedMemHigh:  // 0 begins the maximum anew, other numbers are refused
        if (number == 0) pool->used_high = pool->used;
        return number == 0 ? cudaSuccess : cudaErrorInvalidValue;
      default: return cudaErrorInvalidValue;
    }
  });
}

// Pools reserve no more than their allocations.
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!pool || !value) return cudaErrorInvalidValue;
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    std::uint64_t& number = *static_cast<std::uint64_t*>(value);
    switch (attribute) {
      case cudaMemPoolAttrReleaseThreshold: number = pool->release_threshold; return cudaSuccess;
      case cudaMemPoolAttrUsedMemCurrent:
      case cudaMemPoolAttrReservedMemCurrent: number = pool->used; return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
      case cudaMemPoolAttrReservedMemHigh: number = pool->used_high; return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

// Check the arguments only: every device can access all memory.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                 std::size_t count) {
  return call([&] {
    if (!pool || (count && !access)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (!Machine::get().has_device(access[i].location.id)) return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!pool) return cudaErrorInvalidValue;
    std::lock_guard<std::mutex> hold(Machine::get().lock);
    release_cached_pages();
    return cudaSuccess;
  });
}
