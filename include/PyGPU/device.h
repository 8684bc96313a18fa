// The calling thread's current device.
#pragma once

#include <functional>

#include "error.h"
#include "unique_handle.h"

namespace PyGPU {

// Throws DeviceError where there is no device, or after a fork.
int current_device();

// With one device there is no other to be on, and nothing to ask.
bool is_only_device();

constexpr int max_devices = 64;
// Is it the number of a device of which something is kept in a table?
inline bool is_device_number(int device) { return device >= 0 && device < max_devices; }

// cudaDeviceReset destroys all memory, streams and events of the current device and begins a new
// epoch of it. What was made in an earlier epoch, or before a fork in the parent, is gone and must
// not be released.
Status reset_device();
unsigned device_epoch(int device);  // counted from 1; 0 of what is no device's number
bool is_gone(int device, unsigned epoch);
// Throws DeviceError where it is; `why` says what a reset did.
void require_not_gone(const char* call, int device, unsigned epoch, const char* why);

// Counts a launch and returns how many may be queued on the device: those since it was last known
// to be idle. A launch blocks only when its queue is full, at about a thousand.
unsigned count_launch(int device, bool on_null_stream);
// Reports that all work of the device is done, or all that the null stream waits for.
void seen_idle(int device, bool null_stream_only);
void seen_current_idle(bool null_stream_only);
// cudaDeviceSynchronize, followed by seen_idle.
cudaError_t synchronize_device();

// Makes a call that may wait for the device, wherever its outcome is needed. `around_waits` sets
// what goes on meanwhile; for the bindings, Python's other threads.
using Wait = std::function<cudaError_t()>;
cudaError_t waiting(const Wait& call);
void around_waits(std::function<cudaError_t(const Wait&)> around);

// Do work with `device` current. Returns the work's error, or that of the switch; never throws.
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

// The same for what gives something back, which is done even if the device cannot be chosen.
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

// Traits of a handle that belongs to a device; Kind gives its name and destroy(handle).
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

// Own what `create(handle)` makes on a device, the current one.
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
  static constexpr const char* name = "the choice of device";
  static cudaError_t release(Handle previous) { return cudaSetDevice(previous.device); }
};

// While the guard lives, `device` is current. Where it is already, that costs one query.
using DeviceGuard = UniqueHandle<RestoreDevice>;
DeviceGuard use_device(int device);

}  // namespace PyGPU
