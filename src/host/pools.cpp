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
    *pool = new PyGPUHostPool{device, 0};
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
    if (!pool || !value || attribute != cudaMemPoolAttrReleaseThreshold)
      return cudaErrorInvalidValue;
    pool->release_threshold = *static_cast<std::uint64_t*>(value);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!pool || !value) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    std::uint64_t used = 0;
    for (const auto& [start, block] : machine.table)
      if (block.pool == pool) used += block.charge;
    const bool threshold = attribute == cudaMemPoolAttrReleaseThreshold;
    *static_cast<std::uint64_t*>(value) = threshold ? pool->release_threshold : used;
    return cudaSuccess;
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
