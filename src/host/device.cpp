// Devices of the host machine: selection, properties, limits and peer access.
#include <cstdio>
#include <cstring>

#include "array.h"
#include "capture.h"
#include "machine.h"
#include "order.h"
#include "texture.h"
#include "texture_limits.h"

namespace PyGPU::host {
namespace {

bool exists(int device) { return Machine::get().has_device(device); }

// Call `body` with the current device's state, holding the machine's lock.
template <class Body>
cudaError_t with_device(Body body, const char* name = __builtin_FUNCTION()) {
  return call(
      [&] {
        Machine& machine = Machine::get();
        std::lock_guard<std::mutex> hold(machine.lock);
        return body(machine.devices[std::size_t(current_device())]);
      },
      name);
}

// Like with_device, for changes that are unsafe while streams are captured.
template <class Body>
cudaError_t change_device(Body body, const char* name = __builtin_FUNCTION()) {
  const cudaError_t error = refuse_unsafe();
  return error ? set_last_error(error) : with_device(body, name);
}

// Return an item that all earlier work of a device delays.
Item work_of(int device) {
  Item item;
  item.scope = Item::Scope::device;
  item.lane.device = device;
  return item;
}

// Return a device attribute. Attributes that do not apply to this machine are 0.
int attribute_value(const Machine& machine, cudaDeviceAttr attribute, int device) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return Machine::max_threads_per_block;
    case cudaDevAttrMaxBlockDimZ: return 64;
    case cudaDevAttrMaxGridDimX: return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock: return int(Machine::max_shared_bytes);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return int(Machine::max_shared_bytes_optin);
    case cudaDevAttrTotalConstantMemory: return 64 << 10;
    case cudaDevAttrWarpSize: return machine.warp_size;
    case cudaDevAttrMaxPitch: return 0x7fffffff;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return 65536;
    case cudaDevAttrClockRate: return 1000000;
    case cudaDevAttrMultiProcessorCount: return machine.cores;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return Machine::max_threads_per_block;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return 1;
    case cudaDevAttrComputeCapabilityMajor: return 9;
    case cudaDevAttrPciDeviceId: return device;
    case cudaDevAttrIntegrated:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrMemoryPoolsSupported: return 1;
    default: return texture_limit(attribute);
  }
}

// Limits are those of compute capability 9, where a kernel cannot wait for kernels that it
// launched.
cudaError_t check_limit(cudaLimit limit) {
  if (limit < 0 || limit > cudaLimitDevRuntimePendingLaunchCount) return cudaErrorInvalidValue;
  return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaSuccess;
}

}  // namespace
}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&] {
    if (!count) return cudaErrorInvalidValue;
    *count = int(Machine::get().devices.size());
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call([&] {
    if (!device) return cudaErrorInvalidValue;
    *device = current_device();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&] {
    if (!exists(device)) return cudaErrorInvalidDevice;
    current_device() = device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([] {
    if (const cudaError_t error = refuse_captured()) return error;
    const cudaError_t error = wait_until_ready(work_of(current_device()));
    return error ? error : unread_fault();
  });
}

// Free all memory and destroy all streams, events, arrays and textures of the current device.
cudaError_t cudaDeviceReset() {
  return call([] {
    if (const cudaError_t error = wait_until_ready(work_of(current_device()))) return error;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    for (auto entry = machine.table.begin(); entry != machine.table.end();) {
      if (entry->second.device == current_device()) {
        free_block(entry->first, entry->second);
        entry = machine.table.erase(entry);
      } else {
        ++entry;
      }
    }
    auto drop = [](auto& handles) {
      for (auto handle = handles.begin(); handle != handles.end();) {
        if ((*handle)->device != current_device()) {
          ++handle;
          continue;
        }
        delete *handle;
        handle = handles.erase(handle);
      }
    };
    for (cudaStream_t stream : machine.streams)
      if (stream->device == current_device()) drop_captured_stream(stream);
    drop(machine.streams);
    drop(machine.events);
    release_arrays(current_device());
    release_textures(current_device());
    Device& device = machine.devices[std::size_t(current_device())];
    Device fresh{};
    fresh.memory = device.memory;
    fresh.used_by_others = device.used_by_others;
    fresh.pool.device = current_device();
    device = fresh;
    (void)set_fault(cudaSuccess);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&] {
    if (!properties) return cudaErrorInvalidValue;
    if (!exists(device)) return cudaErrorInvalidDevice;
    const Machine& machine = Machine::get();
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "PyGPU host machine (%d core%s)",
                  machine.cores, machine.cores == 1 ? "" : "s");
    std::memcpy(properties->uuid.bytes, "PyGPU-host-dev-", 15);
    properties->uuid.bytes[15] = char(device);
    properties->totalGlobalMem = machine.devices[std::size_t(device)].memory;
    properties->major = 9;
    properties->warpSize = machine.warp_size;
    properties->multiProcessorCount = machine.cores;
    properties->pciDeviceID = device;
    const auto value = [&](cudaDeviceAttr attribute) {
      return attribute_value(machine, attribute, device);
    };
    properties->sharedMemPerBlock = std::size_t(value(cudaDevAttrMaxSharedMemoryPerBlock));
    properties->sharedMemPerBlockOptin =
        std::size_t(value(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    properties->sharedMemPerMultiprocessor =
        std::size_t(value(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    properties->totalConstMem = std::size_t(value(cudaDevAttrTotalConstantMemory));
    properties->memPitch = std::size_t(value(cudaDevAttrMaxPitch));
    properties->textureAlignment = std::size_t(value(cudaDevAttrTextureAlignment));
    properties->texturePitchAlignment = std::size_t(value(cudaDevAttrTexturePitchAlignment));
    properties->surfaceAlignment = std::size_t(value(cudaDevAttrSurfaceAlignment));
    properties->regsPerBlock = value(cudaDevAttrMaxRegistersPerBlock);
    properties->regsPerMultiprocessor = value(cudaDevAttrMaxRegistersPerMultiprocessor);
    properties->maxThreadsPerBlock = value(cudaDevAttrMaxThreadsPerBlock);
    properties->maxThreadsPerMultiProcessor = value(cudaDevAttrMaxThreadsPerMultiProcessor);
    properties->maxBlocksPerMultiProcessor = value(cudaDevAttrMaxBlocksPerMultiprocessor);
    properties->clockRate = value(cudaDevAttrClockRate);
    properties->memoryClockRate = value(cudaDevAttrMemoryClockRate);
    properties->memoryBusWidth = value(cudaDevAttrGlobalMemoryBusWidth);
    properties->l2CacheSize = value(cudaDevAttrL2CacheSize);
    properties->asyncEngineCount = value(cudaDevAttrAsyncEngineCount);
    properties->integrated = value(cudaDevAttrIntegrated);
    properties->canMapHostMemory = value(cudaDevAttrCanMapHostMemory);
    properties->concurrentKernels = value(cudaDevAttrConcurrentKernels);
    properties->unifiedAddressing = value(cudaDevAttrUnifiedAddressing);
    properties->managedMemory = value(cudaDevAttrManagedMemory);
    properties->pageableMemoryAccess = value(cudaDevAttrPageableMemoryAccess);
    properties->concurrentManagedAccess = value(cudaDevAttrConcurrentManagedAccess);
    properties->canUseHostPointerForRegisteredMem =
        value(cudaDevAttrCanUseHostPointerForRegisteredMem);
    properties->hostRegisterSupported = value(cudaDevAttrHostRegisterSupported);
    properties->memoryPoolsSupported = value(cudaDevAttrMemoryPoolsSupported);
    properties->maxThreadsDim[0] = value(cudaDevAttrMaxBlockDimX);
    properties->maxThreadsDim[1] = value(cudaDevAttrMaxBlockDimY);
    properties->maxThreadsDim[2] = value(cudaDevAttrMaxBlockDimZ);
    properties->maxGridSize[0] = value(cudaDevAttrMaxGridDimX);
    properties->maxGridSize[1] = value(cudaDevAttrMaxGridDimY);
    properties->maxGridSize[2] = value(cudaDevAttrMaxGridDimZ);
    properties->maxTexture1D = value(cudaDevAttrMaxTexture1DWidth);
    properties->maxTexture2D[0] = value(cudaDevAttrMaxTexture2DWidth);
    properties->maxTexture2D[1] = value(cudaDevAttrMaxTexture2DHeight);
    properties->maxTexture3D[0] = value(cudaDevAttrMaxTexture3DWidth);
    properties->maxTexture3D[1] = value(cudaDevAttrMaxTexture3DHeight);
    properties->maxTexture3D[2] = value(cudaDevAttrMaxTexture3DDepth);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&] {
    if (!value) return cudaErrorInvalidValue;
    if (!exists(device)) return cudaErrorInvalidDevice;
    switch (int(attribute)) {
      // Attributes that only the driver API names (handle types, compression).
      case 102:
      case 103:
      case 104:
      case 105:
      case 107:
#define PYGPU_KNOWN(name, number) case number:
        PYGPU_CUDA_DEVICE_ATTRIBUTES(PYGPU_KNOWN)
#undef PYGPU_KNOWN
        *value = attribute_value(Machine::get(), attribute, device);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return call([&] {
    if (!id || length < 13) return cudaErrorInvalidValue;
    if (!exists(device)) return cudaErrorInvalidDevice;
    std::snprintf(id, std::size_t(length), "0000:00:%02x.0", unsigned(device));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call([&] {
    if (!device || !id) return cudaErrorInvalidValue;
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (std::sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3 &&
        std::sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2)
      return cudaErrorInvalidValue;
    if (domain || bus || function || !exists(int(slot))) return cudaErrorInvalidDevice;
    *device = int(slot);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return with_device([&](Device& device) {
    if (!value) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_limit(limit)) return error;
    *value = device.limits[limit];
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return change_device([&](Device& device) {
    if (const cudaError_t error = check_limit(limit)) return error;
    device.limits[limit] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return with_device([&](Device& device) {
    if (!config) return cudaErrorInvalidValue;
    *config = device.cache;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return with_device([&](Device& device) {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
      return cudaErrorInvalidValue;
    device.cache = config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return with_device([&](Device& device) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = device.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return with_device([&](Device& device) {
    if (flags & ~31u) return cudaErrorInvalidValue;
    device.flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&] {
    if (!can) return cudaErrorInvalidValue;
    if (!exists(device) || !exists(peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  return call([&] {
    if (!value) return cudaErrorInvalidValue;
    if (!exists(device) || !exists(peer) || device == peer) return cudaErrorInvalidDevice;
    if (attribute < cudaDevP2PAttrPerformanceRank ||
        attribute > cudaDevP2PAttrCudaArrayAccessSupported)
      return cudaErrorInvalidValue;
    // All devices share the memory of one computer. The best rank is 0.
    *value = attribute != cudaDevP2PAttrPerformanceRank;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return change_device([&](Device& device) {
    if (flags) return cudaErrorInvalidValue;
    if (!exists(peer)) return cudaErrorInvalidDevice;
    if (peer == current_device()) return cudaErrorPeerAccessUnsupported;
    return device.peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return change_device([&](Device& device) {
    if (!exists(peer)) return cudaErrorInvalidDevice;
    return device.peers.erase(peer) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}
