// Memory and events that processes share. See sharing.h.
//
// The pages of exported memory are replaced, at their address, by pages of a file without a name,
// which other processes map. An allocation must have pages of its own for that: from 2 MiB on.
#include "sharing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "capture.h"
#include "interrupt.h"
#include "order.h"
#include "pages.h"

namespace PyGPU::host {
namespace {

constexpr std::uint64_t memory_mark = 0x6d656d5570475950, event_mark = 0x7665745570475950;

// Contents of a handle.
struct Shared {
  std::uint64_t mark;
  std::uint64_t key;  // random, and part of the file's name
  std::uint64_t span, mapped;
  std::int32_t owner, descriptor;
};

struct Opened {
  Shared handle;
  int uses = 1;
};

// Allocations by first address. Guarded by the machine's lock.
std::map<std::uintptr_t, Shared>& exported() {
  static auto& all = *new std::map<std::uintptr_t, Shared>;
  return all;
}
std::map<std::uintptr_t, Opened>& opened() {
  static auto& all = *new std::map<std::uintptr_t, Opened>;
  return all;
}

template <class Handle>
void write_handle(Handle* handle, const Shared& shared) {
  static_assert(sizeof shared <= sizeof handle->reserved);
  *handle = {};
  std::memcpy(handle->reserved, &shared, sizeof shared);
}

template <class Handle>
Shared read_handle(const Handle& handle) {
  Shared shared{};
  std::memcpy(&shared, handle.reserved, sizeof shared);
  return shared;
}

using FileName = char[48];
void name_file(FileName& name, std::uint64_t key) {
  std::snprintf(name, sizeof name, "PyGPU-%016llx", static_cast<unsigned long long>(key));
}

// Make a file without a name in the file system. Set its descriptor and key.
bool make_file(Shared& shared, std::size_t nbytes) {
  if (getrandom(&shared.key, sizeof shared.key, 0) != sizeof shared.key) return false;
  FileName name;
  name_file(name, shared.key);
  shared.descriptor = memfd_create(name, MFD_CLOEXEC);
  if (shared.descriptor < 0) return false;
  shared.owner = getpid();
  shared.mapped = nbytes;
  if (ftruncate(shared.descriptor, off_t(nbytes)) == 0) return true;
  close(shared.descriptor);
  return false;
}

void* map_file(int descriptor, std::size_t nbytes, void* address = nullptr) {
  void* const mapping = mmap(address, nbytes, PROT_READ | PROT_WRITE,
                             MAP_SHARED | (address ? MAP_FIXED : 0), descriptor, 0);
  return mapping == MAP_FAILED ? nullptr : mapping;
}

// Map the file of another process. Return null if the process has ended or has closed the file.
void* map_file_of_other(const Shared& shared) {
  char path[64], found[64] = {}, expected[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", shared.owner, shared.descriptor);
  FileName name;
  name_file(name, shared.key);
  std::snprintf(expected, sizeof expected, "/memfd:%s", name);
  if (readlink(path, found, sizeof found - 1) < 0) return nullptr;
  if (std::strncmp(found, expected, std::strlen(expected)) != 0) return nullptr;
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  void* const mapping = map_file(descriptor, shared.mapped);
  close(descriptor);
  return mapping;
}

// Return the first address and the block of an allocation that can be exported, or null.
std::pair<std::uintptr_t, const Allocation*> exportable(const void* address) {
  const auto found = Machine::get().block(address, 1);
  const Allocation* const block = found.second;
  const bool fits = block && block->space == Space::device && !block->pool && !block->is_freed &&
                    has_own_pages(block->charge + Machine::zone_bytes);
  return fits ? found : std::pair<std::uintptr_t, const Allocation*>{};
}

cudaError_t export_memory(std::uintptr_t first, const Allocation& block) {
  Shared shared{};
  shared.mark = memory_mark;
  shared.span = block.span;
  const std::size_t nbytes = mapped_bytes(block.charge + Machine::zone_bytes);
  if (!make_file(shared, nbytes)) return cudaErrorOperatingSystem;
  auto* const start = reinterpret_cast<char*>(first);
  void* const copy = map_file(shared.descriptor, nbytes);
  if (copy) std::memcpy(copy, start, nbytes);
  if (copy) munmap(copy, nbytes);
  if (!copy || !map_file(shared.descriptor, nbytes, start)) {
    close(shared.descriptor);
    return cudaErrorMemoryAllocation;
  }
  exported().insert({first, shared});
  return cudaSuccess;
}

cudaError_t open_memory(void** address, const Shared& shared) {
  for (auto& [first, there] : opened()) {
    if (there.handle.key != shared.key) continue;
    ++there.uses;
    *address = reinterpret_cast<void*>(first);
    return cudaSuccess;
  }
  void* const mapping = map_file_of_other(shared);
  if (!mapping) return cudaErrorMapBufferObjectFailed;
  const auto first = reinterpret_cast<std::uintptr_t>(mapping);
  opened().insert({first, {shared}});
  Machine::get().table[first] = {std::size_t(shared.span), 0, Space::opened, current_device(), 0};
  *address = mapping;
  return cudaSuccess;
}

// Return an event whose records are in a mapped page. The page and the descriptor end with it.
std::shared_ptr<SharedEvent> shared_event(void* page, const Shared& shared, int descriptor) {
  auto* const records = static_cast<SharedRecords*>(page);
  const auto release = [](SharedEvent* event) {
    munmap(event->records, page_size());
    if (event->descriptor >= 0) close(event->descriptor);
    delete event;
  };
  return {new SharedEvent{records, descriptor, shared.key, shared.owner}, release};
}

}  // namespace

void SharedEvent::end_record() {
  std::uint64_t ended = records->ended.load();
  while (ended < latest && !records->ended.compare_exchange_weak(ended, latest)) {
  }
}

cudaError_t SharedEvent::wait() const {
  const std::uint64_t last = records->begun.load();
  cudaError_t outcome = cudaSuccess;
  const auto is_over = [&] { return records->ended.load() >= last; };
  if (is_over()) return outcome;
  around_wait([&] {
    constexpr int microseconds = 100, between_looks = 500;
    for (int turn = 1; !is_over(); ++turn) {
      usleep(microseconds);
      if (turn % between_looks) continue;
      if (kill(owner, 0) != 0 && errno == ESRCH && !is_over()) outcome = cudaErrorOperatingSystem;
      if (is_watched_thread() && asks_to_end()) outcome = cudaErrorLaunchFailure;
      if (outcome) return;
    }
  });
  return outcome;
}

bool free_shared(std::uintptr_t address) {
  auto* const start = reinterpret_cast<void*>(address);
  if (const auto found = exported().find(address); found != exported().end()) {
    unmap_pages(start, found->second.mapped);
    close(found->second.descriptor);
    exported().erase(found);
    return true;
  }
  const auto found = opened().find(address);
  if (found == opened().end()) return false;
  munmap(start, found->second.handle.mapped);
  opened().erase(found);
  return true;
}

}  // namespace PyGPU::host

using namespace PyGPU::host;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  return call([&] {
    if (!handle || !address) return cudaErrorInvalidValue;
    if (const cudaError_t error = refuse_unsafe()) return error;
    Machine& machine = Machine::get();
    int device = 0;
    {
      const std::lock_guard<std::mutex> hold(machine.lock);
      const Allocation* const block = machine.find(address);
      if (!block || block->space != Space::device || block->pool) return cudaErrorInvalidValue;
      if (!exportable(address).second) return cudaErrorNotSupported;
      device = block->device;
    }
    // Work must not write while the pages are replaced.
    Item work;
    work.scope = Item::Scope::device;
    work.lane.device = device;
    if (const cudaError_t error = wait_until_ready(work)) return error;
    const std::lock_guard<std::mutex> hold(machine.lock);
    const auto [first, block] = exportable(address);
    if (!block) return cudaErrorInvalidValue;
    if (!exported().count(first))
      if (const cudaError_t error = export_memory(first, *block)) return error;
    write_handle(handle, exported().at(first));
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle, unsigned flags) {
  return call([&] {
    const Shared shared = read_handle(handle);
    if (!address || flags != cudaIpcMemLazyEnablePeerAccess || shared.mark != memory_mark)
      return cudaErrorInvalidValue;
    *address = nullptr;
    if (shared.owner == getpid()) return cudaErrorDeviceUninitialized;  // as CUDA
    if (const cudaError_t error = refuse_unsafe()) return error;
    const std::lock_guard<std::mutex> hold(Machine::get().lock);
    return open_memory(address, shared);
  });
}

cudaError_t cudaIpcCloseMemHandle(void* address) {
  return call([&] {
    if (const cudaError_t error = refuse_unsafe()) return error;
    Machine& machine = Machine::get();
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    Item work;
    work.scope = Item::Scope::everything;
    if (const cudaError_t error = wait_until_ready(work)) return error;
    const std::lock_guard<std::mutex> hold(machine.lock);
    const auto entry = machine.table.find(first);
    if (entry == machine.table.end() || entry->second.space != Space::opened)
      return cudaErrorInvalidValue;
    if (--opened().at(first).uses > 0) return cudaSuccess;
    free_block(first, entry->second);
    machine.table.erase(entry);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return call([&] {
    if (!handle) return cudaErrorInvalidValue;
    Machine& machine = Machine::get();
    const std::lock_guard<std::mutex> hold(machine.lock);
    if (!machine.events.count(event) || !(event->flags & cudaEventInterprocess))
      return cudaErrorInvalidResourceHandle;
    Shared shared{};
    if (!event->shared) {
      if (!make_file(shared, page_size())) return cudaErrorOperatingSystem;
      void* const page = map_file(shared.descriptor, page_size());
      if (!page) {
        close(shared.descriptor);
        return cudaErrorMemoryAllocation;
      }
      event->shared = shared_event(page, shared, shared.descriptor);
      if (event->pending) event->shared->begin_record();
    }
    const SharedEvent& own = *event->shared;
    if (own.descriptor < 0) return cudaErrorInvalidResourceHandle;  // of another process
    shared.mark = event_mark;
    shared.key = own.key;
    shared.descriptor = own.descriptor;
    shared.owner = own.owner;
    shared.mapped = page_size();
    write_handle(handle, shared);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return call([&] {
    const Shared shared = read_handle(handle);
    if (!event || shared.mark != event_mark || shared.mapped != page_size())
      return cudaErrorInvalidValue;
    if (shared.owner == getpid()) return cudaErrorDeviceUninitialized;  // as CUDA
    void* const page = map_file_of_other(shared);
    if (!page) return cudaErrorMapBufferObjectFailed;
    auto made = std::make_unique<PyGPUHostEvent>();
    made->device = current_device();
    made->flags = cudaEventInterprocess | cudaEventDisableTiming;
    made->recorded = true;
    made->shared = shared_event(page, shared, -1);
    Machine& machine = Machine::get();
    const std::lock_guard<std::mutex> hold(machine.lock);
    machine.events.insert(made.get());
    *event = made.release();
    return cudaSuccess;
  });
}
