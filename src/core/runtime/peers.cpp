// Access of devices to each other's memory. See peers.h.
#include "PyGPU/runtime/peers.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "PyGPU/runtime/capture.h"
#include "PyGPU/runtime/device.h"
#include "PyGPU/runtime/memory_pool.h"
#include "PyGPU/runtime/settings.h"

namespace PyGPU {
namespace {

// Access of a device to the memory of another one: the epochs of the two devices when it was
// enabled, or 0. A reset of either device ends it.
struct Access {
  std::atomic<std::uint64_t> by_program;  // by enable_peer_access: for kernels and copies
  std::atomic<std::uint64_t> for_copies;  // tried by connect_for_copies

  bool is_for_copies_alone(std::uint64_t now) const {
    return for_copies == now && by_program != now;
  }
};
Access accesses[max_devices][max_devices];
std::mutex changes;

std::uint64_t epochs_of(int device, int peer) {
  return std::uint64_t(device_epoch(device)) << 32 | device_epoch(peer);
}

bool are_device_numbers(int device, int peer) {
  return is_device_number(device) && is_device_number(peer);
}

cudaError_t set_pool_access(int device, int peer, cudaMemAccessFlags flags) {
  const cudaMemPool_t pool = memory_pool(peer);
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = device;
  access.flags = flags;
  return pool ? cudaMemPoolSetAccess(pool, &access, 1) : cudaSuccess;
}

// Errors leave copies as they are without access, for instance of a device that has as many peers
// as its runtime allows.
void enable_for_copies(int device, int peer) {
  Access& access = accesses[device][peer];
  const std::uint64_t now = epochs_of(device, peer);
  if (access.for_copies == now) return;
  int can = 0;
  if (access.by_program != now && !cudaDeviceCanAccessPeer(&can, device, peer) && can) {
    const DeviceGuard guard = use_device(device);
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (!error || error == cudaErrorPeerAccessAlreadyEnabled)
      (void)set_pool_access(device, peer, cudaMemAccessFlagsProtReadWrite);
  }
  (void)cudaGetLastError();
  access.for_copies = now;
}

}  // namespace

Status enable_peer_access(int peer, unsigned flags) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  const std::lock_guard<std::mutex> lock(changes);
  if (!are_device_numbers(device, peer)) return cudaDeviceEnablePeerAccess(peer, flags);
  Access& access = accesses[device][peer];
  const std::uint64_t now = epochs_of(device, peer);
  if (const cudaError_t error = cudaDeviceEnablePeerAccess(peer, flags)) {
    if (error != cudaErrorPeerAccessAlreadyEnabled || !access.is_for_copies_alone(now))
      return error;
    (void)cudaGetLastError();
  }
  access.by_program = now;
  return set_pool_access(device, peer, cudaMemAccessFlagsProtReadWrite);
}

Status disable_peer_access(int peer) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  const std::lock_guard<std::mutex> lock(changes);
  if (!are_device_numbers(device, peer)) return cudaDeviceDisablePeerAccess(peer);
  Access& access = accesses[device][peer];
  const std::uint64_t now = epochs_of(device, peer);
  if (access.is_for_copies_alone(now))
    return cudaErrorPeerAccessNotEnabled;  // by the program, whose call this is
  if (const cudaError_t error = cudaDeviceDisablePeerAccess(peer)) return error;
  access.by_program = access.for_copies = 0;
  return set_pool_access(device, peer, cudaMemAccessFlagsProtNone);
}

bool reaches_peer(int device, int peer) {
  return are_device_numbers(device, peer) &&
         accesses[device][peer].by_program == epochs_of(device, peer);
}

void connect_for_copies(int device, int other) {
  static const bool is_wanted = switch_setting("PYGPU_PEER_COPIES", true);
  if (!is_wanted || device == other || !are_device_numbers(device, other)) return;
  if (accesses[device][other].for_copies == epochs_of(device, other) &&
      accesses[other][device].for_copies == epochs_of(other, device))
    return;
  const std::lock_guard<std::mutex> lock(changes);
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  enable_for_copies(device, other);
  enable_for_copies(other, device);
}

}  // namespace PyGPU
