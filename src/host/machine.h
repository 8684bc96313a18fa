// The host target's machine: devices, the memory table, streams and events. All of it is one object
// behind one lock; work itself runs in the calling thread, in issue order, outside the lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "PyGPU/vendor/host.h"
#include "failures.h"

namespace PyGPU::host {
struct Recording;  // capture.h
}

struct PyGPUHostStream {
  int device;
  unsigned flags;
  int priority;
  PyGPU::host::Recording* recording = nullptr;
  bool is_joined = true;  // while recorded: does the first stream wait for all its work?
};

struct PyGPUHostEvent {
  int device;
  unsigned flags;
  bool recorded;
  std::chrono::steady_clock::time_point time;
  PyGPU::host::Recording* recording = nullptr;  // that it is a point in
  cudaStream_t captured_on = nullptr;
};

struct PyGPUHostPool {
  int device = 0;
  std::uint64_t release_threshold = 0;
};

namespace PyGPU::host {

// A variable is a `__device__` or `__constant__` one, memory of the module that has it.
enum class Space { device, variable, pinned, registered, managed, imported };

struct Allocation {
  std::size_t span;    // bytes that may be touched: rounded up to the granularity unless strict
  std::size_t charge;  // bytes counted as used on the device
  Space space;
  int device;
  unsigned flags;
  cudaMemPool_t pool = nullptr;  // that it was taken from
};

struct Device {
  std::size_t memory;      // bytes in all
  std::size_t others = 0;  // what other programs used of it when last looked
  std::size_t used = 0;
  std::set<int> peers;  // devices whose memory this one may reach
  unsigned flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
  std::size_t limits[5] = {1024, 1 << 20, 8 << 20, 0, 2048};  // in the order of cudaLimit
  cudaFuncCache cache = cudaFuncCachePreferNone;
  PyGPUHostPool pool;
};

class Machine {
 public:
  // Made on first use, never destroyed: libraries may still free memory while the process exits.
  static Machine& get();

  static constexpr std::size_t granularity = 512;
  static constexpr int max_threads_per_block = 1024;
  static constexpr std::size_t max_shared_bytes = 48 << 10;
  static constexpr std::size_t max_shared_bytes_optin = 227 << 10;

  // Bytes behind a block of ours, which nobody is to touch; a write there is reported.
  static constexpr std::size_t zone_bytes = 64;

  std::mutex lock;
  std::vector<Device> devices;
  std::map<std::uintptr_t, Allocation> table;  // by first address
  // Pageable memory of other libraries that arrays use. The same may be imported twice.
  std::multimap<std::uintptr_t, Allocation> imported;
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
  bool strict;
  int warp_size;
  int cores;

  bool has_device(int device) const { return device >= 0 && std::size_t(device) < devices.size(); }
  // Has a device room for so many more bytes? Looks again at what others use before it says no.
  bool has_room(Device& device, std::size_t nbytes);
  // The entry that holds [address, address + nbytes), or null. Call with the lock held.
  const Allocation* find(const void* address, std::size_t nbytes = 1) const;
  // The same with its first address; 0 and null where there is none.
  std::pair<std::uintptr_t, const Allocation*> block(const void* address, std::size_t nbytes) const;
  // May device code touch these bytes? Takes the lock.
  bool device_may_touch(const void* address, std::size_t nbytes);
  bool knows(cudaStream_t stream);
  // Kernels run on streams of the current device alone. Takes the lock.
  bool launches_on(cudaStream_t stream);
  bool knows(cudaEvent_t event);

 private:
  Machine();
  bool is_computers_ = true;  // the devices' memory: not set by PYGPU_HOST_MEMORY
};

// Was the zone behind this block written to?
bool is_overrun(std::uintptr_t address, const Allocation& block);
// Writes a line about a block that was.
void report_overrun(std::uintptr_t address, const Allocation& block);
// Frees the memory of an entry of the table, if it is a block of ours, and says so if its zone was
// written to. Call with the lock held.
void give_back_block(std::uintptr_t address, const Allocation& block);
// Writes it, where there is one, when the process is about to die of a signal. Takes no lock.
void report_overruns();

// Is it one that was created, neither the null stream nor a thread's own?
inline bool is_own(cudaStream_t stream) {
  return stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
}

int& current_device();

// May a copy touch these bytes? An allocation of the table must hold them all; an address outside
// the table is taken for pageable memory, of which the machine knows nothing.
bool copy_may_touch(const void* address, std::size_t nbytes, bool on_device);
cudaError_t check_kind(cudaMemcpyKind kind);

// Every call goes through here: refuses a forked child, records the thread's last error, and lets
// no exception out, because the calls are C functions.
cudaError_t remember(cudaError_t error);
bool forked();

template <class Body>
cudaError_t call(Body body, const char* name = __builtin_FUNCTION()) {
  try {
    if (failures_wanted.load(std::memory_order_relaxed) && is_to_fail(name)) {
      if (releases(name)) (void)body();
      return remember(failure_of(name));
    }
    return remember(forked() ? cudaErrorInitializationError : body());
  } catch (const std::bad_alloc&) {
    return remember(cudaErrorMemoryAllocation);
  }
}

}  // namespace PyGPU::host
