// Cache of freed blocks. See block_cache.h.
#include "PyGPU/runtime/block_cache.h"

#include <algorithm>
#include <mutex>

#include "PyGPU/runtime/capture.h"
#include "PyGPU/runtime/settings.h"
#include "PyGPU/runtime/stream.h"

namespace PyGPU::block_cache {
namespace {

constexpr std::size_t largest = 64 << 20, most_bytes = 256 << 20;
constexpr int capacity = 64;

struct Block {
  std::size_t nbytes;
  void* address;
};

// Blocks of one device; the last one kept is reused first. A reset of the device frees the blocks.
struct Cache {
  std::mutex lock;
  unsigned epoch = 0;
  int count = 0;
  std::size_t nbytes = 0;  // of all blocks
  Block kept[capacity];

  void drop_lost(int device) {
    if (epoch == device_epoch(device)) return;
    epoch = device_epoch(device);
    count = 0;
    nbytes = 0;
  }
  void free_oldest(int device, int number) {
    (void)on_device(device, [&] {
      const RelaxedCaptureMode relaxed = relax_capture_mode();
      for (int i = 0; i < number; ++i) (void)cudaFreeAsync(kept[i].address, cudaStream_t());
      return cudaSuccess;
    });
    for (int i = 0; i < number; ++i) nbytes -= kept[i].nbytes;
    std::copy(kept + number, kept + count, kept);
    count -= number;
  }
};

Cache caches[max_devices];

bool is_on() {
  static const bool on = switch_setting("PYGPU_BLOCK_CACHE", capabilities.keeps_blocks);
  return on;
}

}  // namespace

void* take(int device, std::size_t nbytes) {
  if (nbytes > largest || !is_device_number(device) || !is_on()) return nullptr;
  Cache& cache = caches[device];
  std::lock_guard<std::mutex> hold(cache.lock);
  cache.drop_lost(device);
  for (int i = cache.count - 1; i >= 0; --i) {
    if (cache.kept[i].nbytes != nbytes) continue;
    void* const block = cache.kept[i].address;
    std::copy(cache.kept + i + 1, cache.kept + cache.count, cache.kept + i);
    --cache.count;
    cache.nbytes -= nbytes;
    return block;
  }
  return nullptr;
}

bool keep(int device, void* block, std::size_t nbytes) {
  if (nbytes > largest || !is_device_number(device) || !is_on()) return false;
  Cache& cache = caches[device];
  std::lock_guard<std::mutex> hold(cache.lock);
  cache.drop_lost(device);
  int too_many = cache.count == capacity ? capacity / 2 : 0;
  std::size_t left = cache.nbytes;
  for (int i = 0; i < too_many || left + nbytes > most_bytes; ++i) {
    left -= cache.kept[i].nbytes;
    too_many = std::max(too_many, i + 1);
  }
  if (too_many) {
    if (Capture::current() || is_captured(cudaStream_t())) return false;
    cache.free_oldest(device, too_many);
  }
  cache.kept[cache.count++] = {nbytes, block};
  cache.nbytes += nbytes;
  return true;
}

std::size_t cached_bytes(int device) {
  if (!is_device_number(device)) return 0;
  Cache& cache = caches[device];
  std::lock_guard<std::mutex> hold(cache.lock);
  cache.drop_lost(device);
  return cache.nbytes;
}

void give_back(int device) {
  if (!is_device_number(device)) return;
  Cache& cache = caches[device];
  std::lock_guard<std::mutex> hold(cache.lock);
  cache.drop_lost(device);
  cache.free_oldest(device, cache.count);
}

}  // namespace PyGPU::block_cache
