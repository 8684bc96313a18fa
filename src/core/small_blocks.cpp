// The shelves of small blocks. See small_blocks.h.
#include "PyGPU/small_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "PyGPU/device.h"

namespace PyGPU::small_blocks {
namespace {

constexpr std::size_t largest = 256 << 10;
constexpr int room = 64;

struct Kept {
  std::size_t nbytes;
  void* block;
};

// The last that came stands first in line. A reset of the device takes what stands here, too.
struct Shelf {
  std::mutex lock;
  unsigned epoch = 0;
  int count = 0;
  Kept kept[room];

  void forget_lost(int device) {
    if (epoch == device_epoch(device)) return;
    epoch = device_epoch(device);
    count = 0;
  }
  void give_back_first(int device, int number) {
    (void)on_device(device, [&] {
      for (int i = 0; i < number; ++i) (void)cudaFreeAsync(kept[i].block, cudaStream_t());
      return cudaSuccess;
    });
    std::copy(kept + number, kept + count, kept);
    count -= number;
  }
};

Shelf shelves[max_devices];

bool is_on() {
  static const bool on = [] {
    const char* const text = std::getenv("PYGPU_SMALL_BLOCKS");
    return text && *text ? *text != '0' : keeps_small_blocks;
  }();
  return on;
}

}  // namespace

void* take(int device, std::size_t nbytes) {
  if (nbytes > largest || device >= max_devices || !is_on()) return nullptr;
  Shelf& shelf = shelves[device];
  std::lock_guard<std::mutex> hold(shelf.lock);
  shelf.forget_lost(device);
  for (int i = shelf.count - 1; i >= 0; --i) {
    if (shelf.kept[i].nbytes != nbytes) continue;
    void* const block = shelf.kept[i].block;
    std::copy(shelf.kept + i + 1, shelf.kept + shelf.count, shelf.kept + i);
    --shelf.count;
    return block;
  }
  return nullptr;
}

bool keep(int device, void* block, std::size_t nbytes) {
  if (nbytes > largest || device >= max_devices || !is_on()) return false;
  Shelf& shelf = shelves[device];
  std::lock_guard<std::mutex> hold(shelf.lock);
  shelf.forget_lost(device);
  if (shelf.count == room) shelf.give_back_first(device, room / 2);
  shelf.kept[shelf.count++] = {nbytes, block};
  return true;
}

void give_back(int device) {
  if (device >= max_devices) return;
  Shelf& shelf = shelves[device];
  std::lock_guard<std::mutex> hold(shelf.lock);
  shelf.forget_lost(device);
  shelf.give_back_first(device, shelf.count);
}

}  // namespace PyGPU::small_blocks
