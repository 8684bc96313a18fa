// The host machine: devices, the memory table, streams and events.
//
// All state is one object guarded by one lock. Work runs outside the lock, in the calling thread,
// in the order of its stream (order.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "PyGPU/vendor/host.h"
#include "failures.h"

namespace PyGPU::host {
struct Capture;  // capture.h
}

struct PyGPUHostStream {
  int device;
  unsigned flags;
  int priority;
  PyGPU::host::Capture* capture = nullptr;
  bool is_joined = true;  // during capture: the origin stream waits for all work of this stream
};

namespace PyGPU::host {
struct SharedEvent;
}

struct PyGPUHostEvent {
  int device = 0;
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time{};
  std::uint64_t pending = 0;  // number of the item that sets the time (order.h); 0: it is set
  // The capture that contains this event, or null.
  std::atomic<PyGPU::host::Capture*> capture{nullptr};
  cudaStream_t captured_on = nullptr;
  std::shared_ptr<PyGPU::host::SharedEvent> shared{};  // set if other processes know the event
};

struct PyGPUHostPool {
  int device = 0;
  std::uint64_t release_threshold = 0;
  std::uint64_t used = 0;       // bytes of its allocations
  std::uint64_t used_high = 0;  // the largest `used` so far; the program may reset it
};

namespace PyGPU::host {

// Kinds of memory. `variable` is a `__device__` or `__constant__` variable, which its module owns;
// `opened` is device memory of another process.
enum class Space { device, variable, pinned, registered, managed, imported, opened };

struct Allocation {
  std::size_t span;    // accessible bytes: rounded up to the granularity unless strict
  std::size_t charge;  // bytes counted as used on the device
  Space space;
  int device;
  unsigned flags;
  cudaMemPool_t pool = nullptr;  // the pool that it was allocated from
  bool is_freed = false;         // freed when earlier work has ended (order.h)
};

struct Device {
  std::size_t memory;              // total bytes
  std::size_t used_by_others = 0;  // bytes used by other programs when last measured
  std::size_t used = 0;
  std::set<int> peers;  // devices whose memory this device can access
  unsigned flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
  std::size_t limits[5] = {1024, 1 << 20, 8 << 20, 0, 2048};  // in the order of cudaLimit
  cudaFuncCache cache = cudaFuncCachePreferNone;
  PyGPUHostPool pool;
};

class Machine {
 public:
  // Created on first use and never destroyed: libraries may still free memory while the process
  // exits.
  static Machine& get();

  static constexpr std::size_t granularity = 512;
  static constexpr int max_threads_per_block = 1024;
  static constexpr std::size_t max_shared_bytes = 48 << 10;
  static constexpr std::size_t max_shared_bytes_optin = 227 << 10;

  // Guard bytes after an allocation. Kernels must not write there; a write is reported.
  static constexpr std::size_t zone_bytes = 64;

  std::mutex lock;
  std::vector<Device> devices;
  std::map<std::uintptr_t, Allocation> table;  // by first address
  // Pageable memory of other libraries that arrays use. One address may be imported more than once.
  std::multimap<std::uintptr_t, Allocation> imported;
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
  bool strict;
  int warp_size;
  int cores;

  bool has_device(int device) const { return device >= 0 && std::size_t(device) < devices.size(); }
  // Return true if the device has `nbytes` free. Before returning false, measure again what other
  // programs use.
  bool has_room(Device& device, std::size_t nbytes);
  // Return the allocation that contains [address, address + nbytes), or null. Call with the lock
  // held.
  const Allocation* find(const void* address, std::size_t nbytes = 1) const;
  // Like find, but return the first address too; 0 and null if there is none.
  std::pair<std::uintptr_t, const Allocation*> block(const void* address, std::size_t nbytes) const;
  // Return true if one allocation contains these bytes, so that device code may access them. Takes
  // the lock.
  bool device_can_access(const void* address, std::size_t nbytes);
  // Return true if the stream was created and not yet destroyed, or is one of CUDA's special
  // streams. Takes the lock.
  bool is_valid(cudaStream_t stream);
  // Return true if a kernel can be launched on the stream: it must belong to the current device.
  // Takes the lock.
  bool can_launch_on(cudaStream_t stream);
  bool is_valid(cudaEvent_t event);

 private:
  Machine();
  // True if the devices have the computer's memory, not a size set by PYGPU_HOST_MEMORY.
  bool is_computer_memory_ = true;
};

// Return true if the guard bytes after an allocation were overwritten.
bool is_overrun(std::uintptr_t address, const Allocation& block);
// Print a line about an allocation whose guard bytes were overwritten.
void report_overrun(std::uintptr_t address, const Allocation& block);
// Free an allocation that the machine made, and report overwritten guard bytes. Memory that others
// own is left alone. Call with the machine's lock held.
void free_block(std::uintptr_t address, const Allocation& block);
// Report every allocation whose guard bytes were overwritten, when a signal is about to end the
// process. Takes no lock.
void report_overruns();

// Return true if the stream was created, false for the null stream and the per-thread stream.
inline bool is_created(cudaStream_t stream) {
  return stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
}

// The calling thread's current device.
int& current_device();

// Return true if a copy may access these bytes. An address in the table needs one allocation that
// contains all bytes. Any other address counts as pageable memory, whose size is unknown. With
// `on_device`, the address must be in the table.
bool copy_can_access(const void* address, std::size_t nbytes, bool on_device);
cudaError_t check_kind(cudaMemcpyKind kind);

// Errors of earlier calls of a thread: the last one, and the fault of a failed kernel. On a GPU a
// kernel fails after its launch, and the calls that wait for it return the fault. So they do here,
// until cudaGetLastError or cudaDeviceReset clears it.
struct ThreadErrors {
  cudaError_t last = cudaSuccess, fault = cudaSuccess;
};
// Replace the calling thread's errors and return the previous ones.
ThreadErrors exchange_errors(ThreadErrors errors);
// Return the fault of a kernel that this thread launched, or cudaSuccess.
cudaError_t unread_fault();
// Record the fault of a kernel, and return it.
cudaError_t set_fault(cudaError_t error);

// True while this thread runs a function that the program enqueued (cudaLaunchHostFunc).
extern __thread bool in_host_function;

// Record the error as the thread's last error, and return it.
cudaError_t set_last_error(cudaError_t error);
// Return true in a child process forked after the machine was used.
bool is_forked_child();

// Run the body of a runtime call. Every call uses this function: it fails in a forked child and in
// a function that a stream calls, injects test failures, and records the last error. No exception
// leaves it, because the calls are C functions.
template <class Body>
cudaError_t call(Body body, const char* name = __builtin_FUNCTION()) {
  try {
    if (in_host_function) return set_last_error(cudaErrorNotPermitted);
    if (calls_until_failure.load(std::memory_order_relaxed) && should_fail(name)) {
      if (is_release(name)) (void)body();
      return set_last_error(injected_error(name));
    }
    return set_last_error(is_forked_child() ? cudaErrorInitializationError : body());
  } catch (const std::bad_alloc&) {
    return set_last_error(cudaErrorMemoryAllocation);
  } catch (const std::exception&) {  // such as a system_error of a thread or a lock
    return set_last_error(cudaErrorUnknown);
  }
}

}  // namespace PyGPU::host
