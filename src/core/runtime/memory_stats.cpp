// Statistics of memory. See memory_stats.h.
#include "PyGPU/runtime/memory_stats.h"

#include <algorithm>
#include <mutex>

#include "PyGPU/runtime/block_cache.h"
#include "PyGPU/runtime/memory_pool.h"

namespace PyGPU {
namespace {

// Bytes of plain memory on one device. A reset of the device frees them.
struct PlainMemory {
  std::mutex lock;
  unsigned epoch = 0;
  std::uint64_t used = 0, peak = 0;

  void drop_lost(int device) {
    if (epoch == device_epoch(device)) return;
    epoch = device_epoch(device);
    used = peak = 0;
  }
};
PlainMemory plain_memory[max_devices];

cudaError_t read_pool(cudaMemPool_t pool, bool reset_peaks, MemoryStats& stats) {
  std::uint64_t zero = 0;
  cudaError_t error = cudaSuccess;
  const auto read = [&](cudaMemPoolAttr attribute, std::uint64_t& value) {
    if (!error) error = cudaMemPoolGetAttribute(pool, attribute, &value);
  };
  read(cudaMemPoolAttrUsedMemCurrent, stats.pool_used);
  read(cudaMemPoolAttrUsedMemHigh, stats.pool_peak);
  read(cudaMemPoolAttrReservedMemCurrent, stats.pool_reserved);
  read(cudaMemPoolAttrReservedMemHigh, stats.pool_reserved_peak);
  for (const auto attribute : {cudaMemPoolAttrUsedMemHigh, cudaMemPoolAttrReservedMemHigh})
    if (!error && reset_peaks) error = cudaMemPoolSetAttribute(pool, attribute, &zero);
  return error;
}

}  // namespace

void count_plain_memory(int device, std::size_t nbytes) {
  if (!is_device_number(device)) return;
  PlainMemory& plain = plain_memory[device];
  const std::lock_guard<std::mutex> hold(plain.lock);
  plain.drop_lost(device);
  plain.used += nbytes;
  plain.peak = std::max(plain.peak, plain.used);
}

void discount_plain_memory(int device, std::size_t nbytes) {
  if (!is_device_number(device)) return;
  PlainMemory& plain = plain_memory[device];
  const std::lock_guard<std::mutex> hold(plain.lock);
  plain.drop_lost(device);
  plain.used -= std::min<std::uint64_t>(plain.used, nbytes);
}

Status memory_stats(int device, bool reset_peaks, MemoryStats& stats) {
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  if (const cudaError_t error =
          on_device(device, [&] { return cudaMemGetInfo(&stats.free, &stats.total); }))
    return error;
  if (const cudaMemPool_t pool = existing_memory_pool(device))
    if (const cudaError_t error = read_pool(pool, reset_peaks, stats)) return error;
  stats.cached = block_cache::cached_bytes(device);
  if (!is_device_number(device)) return {};
  PlainMemory& plain = plain_memory[device];
  const std::lock_guard<std::mutex> hold(plain.lock);
  plain.drop_lost(device);
  stats.plain_used = plain.used;
  stats.plain_peak = plain.peak;
  if (reset_peaks) plain.peak = plain.used;
  return {};
}

}  // namespace PyGPU
