// Current device, its epochs and launch counts. See device.h.
#include "PyGPU/runtime/device.h"

#include <atomic>

namespace PyGPU {
namespace {

std::atomic<unsigned> epochs[max_devices];  // counted from 0

// Numbers of launches; both wrap around.
struct Launches {
  std::atomic<unsigned> counted{0}, over{0};
  unsigned queued() const {
    return counted.load(std::memory_order_relaxed) - over.load(std::memory_order_relaxed);
  }
  // Record that the first `number` launches are over.
  void record_over(unsigned number) {
    unsigned known = over;
    while (int(number - known) > 0 && !over.compare_exchange_weak(known, number)) {
    }
  }
};
struct OfDevice {
  Launches on_null_stream, elsewhere;
};
OfDevice launches[max_devices];

std::function<cudaError_t(const Wait&)>& wait_hook() {
  static auto& hook = *new std::function<cudaError_t(const Wait&)>;
  return hook;
}

}  // namespace

unsigned count_launch(int device, bool on_null_stream) {
  if (!is_device_number(device)) return ~0u;
  OfDevice& all = launches[device];
  (on_null_stream ? all.on_null_stream : all.elsewhere)
      .counted.fetch_add(1, std::memory_order_relaxed);
  return all.on_null_stream.queued() + all.elsewhere.queued();
}

NullStreamLaunches launches_on_null_stream() {
  NullStreamLaunches found{-1, 0};
  if (cudaGetDevice(&found.device))
    (void)cudaGetLastError();
  else if (is_device_number(found.device))
    found.number = launches[found.device].on_null_stream.counted;
  return found;
}

void record_over(const NullStreamLaunches& earlier) {
  if (is_device_number(earlier.device))
    launches[earlier.device].on_null_stream.record_over(earlier.number);
}

void record_idle(int device, bool null_stream_only) {
  if (!is_device_number(device)) return;
  OfDevice& all = launches[device];
  all.on_null_stream.record_over(all.on_null_stream.counted);
  if (!null_stream_only) all.elsewhere.record_over(all.elsewhere.counted);
}

cudaError_t call_that_waits(const Wait& call) { return wait_hook() ? wait_hook()(call) : call(); }

void wrap_waits(std::function<cudaError_t(const Wait&)> around) { wait_hook() = std::move(around); }

void record_current_idle(bool null_stream_only) {
  int device = -1;
  if (cudaGetDevice(&device))
    (void)cudaGetLastError();
  else
    record_idle(device, null_stream_only);
}

cudaError_t synchronize_device() {
  const cudaError_t error = cudaDeviceSynchronize();
  if (!error) record_current_idle(false);
  return error;
}

unsigned device_epoch(int device) { return is_device_number(device) ? epochs[device] + 1 : 0; }

Status reset_device() {
  int device = 0;
  if (!enter_runtime()) return refused_status();
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  if (const cudaError_t error = cudaDeviceReset()) return error;
  if (is_device_number(device)) ++epochs[device];
  return {};
}

bool is_gone(int device, unsigned epoch) { return forked() || epoch != device_epoch(device); }

void require_not_gone(const char* call, int device, unsigned epoch, const char* why) {
  if (forked()) throw DeviceError(call, refused_status());
  if (is_gone(device, epoch)) throw DeviceError(call, {cudaErrorInvalidResourceHandle, why});
}

bool is_only_device() {
  static std::atomic<int> devices{0};  // 0: unknown
  int count = devices.load(std::memory_order_relaxed);
  if (count == 0) {
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    devices = count;
  }
  return count == 1;
}

int current_device() {
  if (!enter_runtime()) throw DeviceError("cudaGetDevice", refused_status());
  if (is_only_device()) return 0;
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) {
    int count = 0;  // cudaGetDeviceCount's error is more specific: no device, no driver
    const cudaError_t cause = cudaGetDeviceCount(&count);
    check("cudaGetDevice", cause ? cause : error);
  }
  return device;
}

DeviceGuard use_device(int device) {
  const int current = current_device();
  if (current == device) return DeviceGuard();
  check("cudaSetDevice", cudaSetDevice(device));
  return DeviceGuard({current});
}

}  // namespace PyGPU
