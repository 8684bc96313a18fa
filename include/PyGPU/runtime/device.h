// Current device of the calling thread, resets of devices, and guards that switch devices.
#pragma once

#include <atomic>
#include <functional>

#include "error.h"
#include "unique_handle.h"

namespace PyGPU {

// Return the current device. Throws DeviceError if there is no device, or in a forked child.
int current_device();

// Return whether the process has one device; the current device then need not be queried.
bool is_only_device();

constexpr int max_devices = 64;
// Return whether tables indexed by device have an entry for `device`.
inline bool is_device_number(int device) { return device >= 0 && device < max_devices; }

// Reset the current device and begin a new epoch of it. cudaDeviceReset destroys all memory,
// streams and events of the device. Handles of an earlier epoch, and handles that a forked child
// inherited, are gone and must not be released.
Status reset_device();
unsigned device_epoch(int device);  // counted from 1; 0 if `device` is not a device number
bool is_gone(int device, unsigned epoch);
// Throw DeviceError if the handle is gone; `why` describes the effect of a reset.
void require_not_gone(const char* call, int device, unsigned epoch, const char* why);

// Count a launch. Returns how many launches may be queued on the device: those since it was last
// known to be idle. A launch blocks only if its queue is full, at about a thousand launches.
unsigned count_launch(int device, bool on_null_stream);
// Record that the device has finished all work, or all work that the null stream waits for.
void record_idle(int device, bool null_stream_only);
void record_current_idle(bool null_stream_only);
// How many launches have been counted on a device's null stream.
struct NullStreamLaunches {
  int device;
  unsigned number;
};
NullStreamLaunches launches_on_null_stream();  // of the current device
// Record that these launches are over. A copy to the host waits for those before it, but not for
// those that other threads enqueue meanwhile.
void record_over(const NullStreamLaunches& earlier);
// Call cudaDeviceSynchronize, then record_idle.
cudaError_t synchronize_device();

// Make a call that may wait for the device. `wrap_waits` sets a function that wraps such calls;
// the bindings use it to let Python's other threads run.
using Wait = std::function<cudaError_t()>;
cudaError_t call_that_waits(const Wait& call);
void wrap_waits(std::function<cudaError_t(const Wait&)> around);

// True once the program has used host functions (host_function.h).
inline std::atomic<bool> uses_host_functions{false};
// Make a call that enqueues work. Such a call waits while the queue is full. If the program uses
// host functions, one may be in the queue and need Python's GIL: then this is call_that_waits. The
// call takes its locks inside, so that nobody waits for one with the GIL.
template <class Call>
cudaError_t call_that_enqueues(const Call& call) {
  return uses_host_functions.load(std::memory_order_relaxed) ? call_that_waits(call) : call();
}

// Run `work` with `device` current. Returns the error of the work or of the switch; never throws.
template <class Work>
cudaError_t on_device(int device, Work work) {
  if (is_only_device()) return work();
  int current = device;
  if (const cudaError_t error = cudaGetDevice(&current)) return error;
  if (current == device) return work();
  if (const cudaError_t error = cudaSetDevice(device)) return error;
  const cudaError_t outcome = work();
  const cudaError_t back = cudaSetDevice(current);
  return outcome ? outcome : back;
}

// Like on_device, for a release: it also runs if the device cannot be made current.
template <class Release>
cudaError_t release_on_device(int device, Release release) {
  bool done = false;
  const cudaError_t error = on_device(device, [&] {
    done = true;
    return release();
  });
  if (done) return error;
  const cudaError_t outcome = release();
  return outcome ? outcome : error;
}

// Traits of a handle that belongs to a device; Kind provides its name and destroy(handle).
template <class Value, class Kind>
struct DeviceOwned {
  struct Handle {
    Value value{};
    int device = 0;
    unsigned epoch = 0;
    bool operator==(const Handle& other) const { return value == other.value; }
    bool gone() const { return is_gone(device, epoch); }
  };
  static cudaError_t release(const Handle& handle) {
    return handle.gone() ? cudaSuccess : Kind::destroy(handle);
  }
};

// Let `owner` own the handle that `create(handle)` makes on `device`, the current device.
template <class Traits, class Create>
cudaError_t make_owned(UniqueHandle<Traits>& owner, int device, Create create) {
  typename Traits::Handle handle;
  handle.device = device;
  handle.epoch = device_epoch(device);
  const cudaError_t error = create(handle);
  if (!error) owner = UniqueHandle<Traits>(handle);
  return error;
}

struct RestoreDevice {
  struct Handle {
    int device = -1;
    bool operator==(const Handle& other) const { return device == other.device; }
  };
  static constexpr const char* name = "the guard of the current device";
  static cudaError_t release(Handle previous) { return cudaSetDevice(previous.device); }
};

// Guard that makes `device` current while it lives. If it is current already, the guard costs one
// query.
using DeviceGuard = UniqueHandle<RestoreDevice>;
DeviceGuard use_device(int device);

}  // namespace PyGPU
