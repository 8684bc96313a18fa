// Memory calls of the host machine: allocation, release, registration, pools, and overrun reports.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>

#include "PyGPU/vendor/host_modules.h"
#include "capture.h"
#include "machine.h"
#include "pages.h"

namespace PyGPU::host {
namespace {

constexpr int zone_pattern = 0xa5;

std::size_t rounded_bytes(std::size_t nbytes) {
  return (nbytes + Machine::granularity - 1) & ~(Machine::granularity - 1);
}

// Allocate memory followed by the guard bytes.
void* allocate_block(std::size_t nbytes) {
  void* const address = allocate_pages(nbytes + Machine::zone_bytes);
  if (address) std::memset(static_cast<char*>(address) + nbytes, zone_pattern, Machine::zone_bytes);
  return address;
}

cudaError_t allocate(void** address, std::size_t nbytes, Space space, unsigned flags,
                     cudaMemPool_t pool = nullptr) {
  if (!address) return cudaErrorInvalidValue;
  *address = nullptr;
  if (nbytes == 0) return cudaSuccess;
  Machine& machine = Machine::get();
  if (nbytes > SIZE_MAX / 2) return cudaErrorMemoryAllocation;
  const std::size_t rounded = rounded_bytes(nbytes);
  const bool on_device = space == Space::device || space == Space::managed;
  std::lock_guard<std::mutex> hold(machine.lock);
  Device& device = machine.devices[std::size_t(current_device())];
  if (on_device && !machine.has_room(device, rounded)) return cudaErrorMemoryAllocation;
  void* block = allocate_block(rounded);
  if (!block) return cudaErrorMemoryAllocation;
  machine.table[reinterpret_cast<std::uintptr_t>(block)] = {machine.strict ? nbytes : rounded,
                                                            on_device ? rounded : 0,
                                                            space,
                                                            current_device(),
                                                            flags,
                                                            pool};
  if (on_device) device.used += rounded;
  *address = block;
  return cudaSuccess;
}

// Free the allocation that begins at `address`, if `fits` accepts its space.
template <class Fits>
cudaError_t release(void* address, Fits fits) {
  if (!address) return cudaSuccess;
  Machine& machine = Machine::get();
  std::lock_guard<std::mutex> hold(machine.lock);
  const auto entry = machine.table.find(reinterpret_cast<std::uintptr_t>(address));
  if (entry == machine.table.end() || !fits(entry->second.space)) return cudaErrorInvalidValue;
  machine.devices[std::size_t(entry->second.device)].used -= entry->second.charge;
  free_block(entry->first, entry->second);
  machine.table.erase(entry);
  return cudaSuccess;
}

bool is_device(Space space) { return space == Space::device || space == Space::managed; }
bool is_device_only(Space space) { return space == Space::device || space == Space::variable; }
bool is_pinned(Space space) { return space == Space::pinned; }
// Return true if allocate() made this block.
bool is_block(const Allocation& block) { return is_device(block.space) || is_pinned(block.space); }

// Return true if the process has these bytes mapped.
bool is_mapped(void* address, std::size_t nbytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t page = page_size(), skipped = first % page;
  if (nbytes > SIZE_MAX - first || nbytes > SIZE_MAX - skipped - page) return false;
  // msync is used as a check: with MS_ASYNC, Linux writes nothing back.
  return msync(reinterpret_cast<void*>(first - skipped), nbytes + skipped, MS_ASYNC) == 0;
}

}  // namespace

bool is_overrun(std::uintptr_t address, const Allocation& block) {
  if (!is_block(block)) return false;
  const auto* const zone =
      reinterpret_cast<const unsigned char*>(address + rounded_bytes(block.span));
  int damage = 0;
  for (std::size_t i = 0; i < Machine::zone_bytes; ++i) damage |= zone[i] ^ zone_pattern;
  return damage != 0;
}

// Print without allocating: this function also runs in a signal handler that may have interrupted
// malloc, so it must not allocate.
void report_overrun(std::uintptr_t address, const Allocation& block) {
  char line[256];
  const int length = std::snprintf(
      line, sizeof line,
      "PyGPU: the host machine's allocation of %zu bytes at %#zx was written to past its end%s\n",
      block.span, std::size_t(address),
      Machine::get().strict ? "" : "; PYGPU_HOST_STRICT=1 names the kernel that does it");
  // Ignore a closed stderr: there is nowhere else to report.
  if (write(STDERR_FILENO, line, std::size_t(length)) < 0) return;
}

void free_block(std::uintptr_t address, const Allocation& block) {
  if (!is_block(block)) return;
  if (is_overrun(address, block)) report_overrun(address, block);
  free_pages(reinterpret_cast<void*>(address), rounded_bytes(block.span) + Machine::zone_bytes);
}

void report_overruns() {
  static std::atomic<bool> looked{false};
  if (looked.exchange(true)) return;  // report once: the table itself may be damaged
  for (const auto& [address, block] : Machine::get().table)
    if (is_overrun(address, block)) report_overrun(address, block);
}

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaMalloc(void** address, std::size_t nbytes) {
  return call([&] {
    const cudaError_t error = refuse_unsafe();
    return error ? error : allocate(address, nbytes, Space::device, 0);
  });
}

cudaError_t cudaMallocPitch(void** address, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!pitch) return cudaErrorInvalidValue;
    if (width > SIZE_MAX / 2) return cudaErrorMemoryAllocation;
    *pitch = rounded_bytes(width);
    if (height && *pitch > SIZE_MAX / 2 / height) return cudaErrorMemoryAllocation;
    return allocate(address, *pitch * height, Space::device, 0);
  });
}

cudaError_t cudaMallocManaged(void** address, std::size_t nbytes, unsigned flags) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(address, nbytes, Space::managed, flags);
  });
}

// Check the arguments only: all memory is host memory, so there is nothing to prefetch.
cudaError_t cudaMemPrefetchAsync(const void* address, std::size_t nbytes, int device,
                                 cudaStream_t stream) {
  return call([&] {
    Machine& machine = Machine::get();
    if (!machine.is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (device != cudaCpuDeviceId && !machine.has_device(device)) return cudaErrorInvalidDevice;
    std::lock_guard<std::mutex> hold(machine.lock);
    const Allocation* block = nbytes ? machine.find(address, nbytes) : nullptr;
    return block && block->space == Space::managed ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMallocAsync(void** address, std::size_t nbytes, cudaStream_t stream) {
  return call([&] {
    if (!Machine::get().is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(stream)) return error;
    if (const cudaError_t error = refuse_unsafe()) return error;
    return allocate(address, nbytes, Space::device, 0,
                    &Machine::get().devices[std::size_t(current_device())].pool);
  });
}

cudaError_t cudaMallocFromPoolAsync(void** address, std::size_t nbytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return call([&] {
    if (!pool || pool->device != current_device()) return cudaErrorInvalidValue;
    if (!Machine::get().is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(stream)) return error;
    if (const cudaError_t error = refuse_unsafe()) return error;
    return allocate(address, nbytes, Space::device, 0, pool);
  });
}

cudaError_t cudaFree(void* address) {
  return call([&] {
    const cudaError_t error = refuse_unsafe();
    return error ? error : release(address, is_device);
  });
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return call([&] {
    if (!Machine::get().is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(stream)) return error;
    if (const cudaError_t error = refuse_unsafe()) return error;
    return release(address, is_device);
  });
}

cudaError_t cudaHostAlloc(void** address, std::size_t nbytes, unsigned flags) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (flags > (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
      return cudaErrorInvalidValue;
    return allocate(address, nbytes, Space::pinned, flags);
  });
}

cudaError_t cudaMallocHost(void** address, std::size_t nbytes) {
  return cudaHostAlloc(address, nbytes, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void* address) {
  return call([&] {
    const cudaError_t error = refuse_unsafe();
    return error ? error : release(address, is_pinned);
  });
}

cudaError_t cudaHostRegister(void* address, std::size_t nbytes, unsigned flags) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                               cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (!address || nbytes == 0 || (flags & ~known) || !is_mapped(address, nbytes))
      return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    const auto after = machine.table.lower_bound(first);
    const bool overlaps_next = after != machine.table.end() && after->first - first < nbytes;
    const Allocation* there = machine.find(address);
    if (overlaps_next || (there && there->space != Space::imported))
      return cudaErrorHostMemoryAlreadyRegistered;
    machine.table[first] = {nbytes, 0, Space::registered, current_device(), flags};
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* address) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    if (!address) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const auto entry = machine.table.find(reinterpret_cast<std::uintptr_t>(address));
    if (entry == machine.table.end() || entry->second.space != Space::registered)
      return cudaErrorHostMemoryNotRegistered;
    machine.table.erase(entry);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_address, void* address, unsigned flags) {
  return call([&] {
    if (!device_address || !address || flags != 0) return cudaErrorInvalidValue;
    *device_address = nullptr;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const Allocation* block = machine.find(address);
    if (!block || is_device_only(block->space)) return cudaErrorInvalidValue;
    *device_address = address;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* address) {
  return call([&] {
    if (!flags) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const Allocation* block = machine.find(address);
    if (!block || is_device_only(block->space) || block->space == Space::managed)
      return cudaErrorInvalidValue;
    *flags = block->flags | cudaHostAllocMapped;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return call([&] {
    if (!attributes) return cudaErrorInvalidValue;
    void* const plain = const_cast<void*>(address);
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const Allocation* block = machine.find(address);
    if (!block) {
      *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, plain};
    } else if (is_device_only(block->space)) {
      *attributes = {cudaMemoryTypeDevice, block->device, plain, nullptr};
    } else {
      const bool managed = block->space == Space::managed;
      *attributes = {managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost, block->device, plain,
                     plain};
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&] {
    if (!free || !total) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const Device& device = machine.devices[std::size_t(current_device())];
    *free = device.memory - device.used_by_others - device.used;
    *total = device.memory;
    return cudaSuccess;
  });
}

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

cudaError_t cudaHostAddressRange(void** base, std::size_t* nbytes, const void* address) {
  return call([&] {
    if (!base || !nbytes) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const auto [first, block] = machine.block(address, 1);
    if (!block) return cudaErrorInvalidValue;
    *base = reinterpret_cast<void*>(first);
    *nbytes = block->span;
    return cudaSuccess;
  });
}

cudaError_t cudaHostImport(void* address, std::size_t nbytes) {
  return call([&] {
    if (!address || nbytes == 0) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    machine.imported.insert({reinterpret_cast<std::uintptr_t>(address),
                             {nbytes, 0, Space::imported, current_device(), 0}});
    return cudaSuccess;
  });
}

cudaError_t cudaHostEndImport(void* address, std::size_t nbytes) {
  return call([&] {
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    const auto [first, last] =
        machine.imported.equal_range(reinterpret_cast<std::uintptr_t>(address));
    for (auto entry = first; entry != last; ++entry) {
      if (entry->second.span != nbytes) continue;
      machine.imported.erase(entry);
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}
