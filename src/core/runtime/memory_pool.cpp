// Pools of stream-ordered memory. See memory_pool.h.
#include "PyGPU/runtime/memory_pool.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>

#include "PyGPU/runtime/settings.h"

namespace PyGPU {
namespace {

// True if stream-ordered allocation is wanted. PYGPU_POOLS=0 turns it off, 1 turns it on wherever
// the device has pools.
bool wants_pools(int device) {
  static const bool if_faulty = switch_setting("PYGPU_POOLS", false);
  static const bool if_sound = switch_setting("PYGPU_POOLS", true);
  return has_faulty_pools(device) ? if_faulty : if_sound;
}

// The pools of all devices.
class Pools {
 public:
  cudaMemPool_t on(int device) {
    if (!is_device_number(device)) return nullptr;
    Pool& pool = pools_[device];
    const unsigned now = device_epoch(device);  // a reset of the device destroys its pools
    if (pool.epoch.load(std::memory_order_acquire) != now)
      (void)call_that_waits([&] {
        const std::lock_guard<std::mutex> hold(lock_);
        if (pool.epoch.load(std::memory_order_relaxed) == now) return cudaSuccess;
        pool.handle = nullptr;
        const cudaError_t error = make(pool.handle, device);
        // ROCm 7 makes no pool while a stream is captured: the next array asks again.
        if (error != cudaErrorStreamCaptureUnsupported)
          pool.epoch.store(now, std::memory_order_release);
        return error;
      });
    return pool.handle;
  }
  cudaMemPool_t existing_on(int device) {
    if (!is_device_number(device)) return nullptr;
    Pool& pool = pools_[device];
    const unsigned made = pool.epoch.load(std::memory_order_acquire);
    return made == device_epoch(device) ? pool.handle : nullptr;
  }

 private:
  struct Pool {
    std::atomic<unsigned> epoch{0};
    cudaMemPool_t handle = nullptr;
  };

  // Makes `made`; it stays null on an error and where the device has no pools.
  static cudaError_t make(cudaMemPool_t& made, int device) {
    if (!wants_pools(device)) return cudaSuccess;
    int supported = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    const RelaxedCaptureMode relaxed = relax_capture_mode();
    cudaError_t error = cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device);
    if (!error && !supported) return cudaSuccess;
    if (!error) error = cudaMemPoolCreate(&pool, &properties);
    if (!error) error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    if (!error)
      made = pool;
    else
      (void)cudaGetLastError();
    return error;
  }

  std::mutex lock_;
  Pool pools_[max_devices];
};
Pools pools;

}  // namespace

cudaMemPool_t memory_pool(int device) { return pools.on(device); }
cudaMemPool_t existing_memory_pool(int device) { return pools.existing_on(device); }

}  // namespace PyGPU
