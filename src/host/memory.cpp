// Memory calls of the host machine: allocation, release, registration, and overrun reports.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>

#include "PyGPU/vendor/host_modules.h"
#include "capture.h"
#include "machine.h"
#include "order.h"
#include "pages.h"
#include "sharing.h"

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
  if (pool) pool->used_high = std::max(pool->used_high, pool->used += rounded);
  *address = block;
  return cudaSuccess;
}

using Entry = std::map<std::uintptr_t, Allocation>::iterator;

// Free an allocation of the table. Call with the machine's lock held.
void erase(Entry entry) {
  Machine& machine = Machine::get();
  machine.devices[std::size_t(entry->second.device)].used -= entry->second.charge;
  if (const cudaMemPool_t pool = entry->second.pool) pool->used -= entry->second.charge;
  free_block(entry->first, entry->second);
  machine.table.erase(entry);
}

// Free an allocation whose release was deferred. A reset of the device may have freed it.
void erase_freed(std::uintptr_t first) {
  Machine& machine = Machine::get();
  std::lock_guard<std::mutex> hold(machine.lock);
  const Entry entry = machine.table.find(first);
  if (entry != machine.table.end() && entry->second.is_freed) erase(entry);
}

// Free the allocation that begins at `address`, if `fits` accepts its space, when the work that
// delays `item` has ended. Set `number` to the number of the item that does it then, or to 0.
template <class Fits>
cudaError_t release(void* address, Fits fits, Item item, std::uint64_t& number) {
  Machine& machine = Machine::get();
  std::lock_guard<std::mutex> hold(machine.lock);
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const Entry entry = machine.table.find(first);
  if (entry == machine.table.end() || !fits(entry->second.space) || entry->second.is_freed)
    return cudaErrorInvalidValue;
  if (item.scope == Item::Scope::device) item.lane.device = entry->second.device;
  number = 0;
  if (is_ready(item)) {
    erase(entry);
    return cudaSuccess;
  }
  number = defer(item, [first](std::uint64_t) { erase_freed(first); });
  entry->second.is_freed = true;
  return cudaSuccess;
}

// Free an allocation, and wait until all work of its device has ended, as CUDA does.
template <class Fits>
cudaError_t release_and_wait(void* address, Fits fits) {
  if (!address) return cudaSuccess;
  Item item, end;
  item.scope = Item::Scope::device;
  item.delays_later = false;
  end.scope = Item::Scope::nothing;
  if (const cudaError_t error = release(address, fits, item, end.awaited)) return error;
  if (end.awaited) (void)wait_until_ready(end);  // after an interruption, freed later
  return cudaSuccess;
}

// Free an allocation in the order of a stream.
template <class Fits>
cudaError_t release_in_order(void* address, Fits fits, cudaStream_t stream) {
  if (!address) return cudaSuccess;
  Item item;
  {
    std::lock_guard<std::mutex> hold(Machine::get().lock);
    const std::optional<Lane> lane = find_lane(stream);
    if (!lane) return cudaErrorInvalidResourceHandle;
    item.lane = *lane;
  }
  std::uint64_t number = 0;
  if (const cudaError_t error = release(address, fits, item, number)) return error;
  if (number) limit_deferred(number);
  return cudaSuccess;
}

bool is_device(Space space) { return space == Space::device || space == Space::managed; }
bool is_device_only(Space space) {
  return space == Space::device || space == Space::variable || space == Space::opened;
}
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
  if (is_block(block) && is_overrun(address, block)) report_overrun(address, block);
  if (free_shared(address) || !is_block(block)) return;
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
    return error ? error : release_and_wait(address, is_device);
  });
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return call([&] {
    if (!Machine::get().is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(stream)) return error;
    if (const cudaError_t error = refuse_unsafe()) return error;
    return release_in_order(address, is_device, stream);
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
    return error ? error : release_and_wait(address, is_pinned);
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

cudaError_t cudaHostVariable(void* address, std::size_t nbytes) {
  return call([&] {
    Machine& machine = Machine::get();
    std::lock_guard<std::mutex> hold(machine.lock);
    machine.table[reinterpret_cast<std::uintptr_t>(address)] = {nbytes, 0, Space::variable,
                                                                current_device(), 0};
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
