// The page-locked block of each device. See bounce.h.
#include "PyGPU/runtime/bounce.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/streaming_copy.h"

namespace PyGPU {
namespace {

// Sizes measured on an H200, as in plan_staging().
constexpr std::size_t least_up = 48 << 10, most_up = 80 << 10;

// Making a block takes as long as a hundred copies.
constexpr unsigned copies_before = 32;

struct Place {
  std::mutex lock;
  std::unique_ptr<Memory> block;     // null while a thread uses it
  unsigned copies = 0, made_in = 0;  // epoch of the device in which it was made
};

Place& place_of(int device) {
  static Place* const all = new Place[max_devices];  // outlives the runtime, so it is never freed
  return all[device];
}

// Return the block for this thread's use, or null.
std::unique_ptr<Memory> take_block(Place& place, int device) {
  const unsigned epoch = device_epoch(device);
  std::unique_ptr<Memory> block;  // one that a reset has taken is dropped after the lock
  {
    const std::lock_guard<std::mutex> hold(place.lock);
    block = std::move(place.block);
    if (block && block->get().epoch == epoch) return block;
    if (place.made_in == epoch || ++place.copies < copies_before) return nullptr;
    place.made_in = epoch;
  }
  block = std::make_unique<Memory>();
  if (!take_memory(*block, MemoryKind::pinned, longest_bounce).failed()) return block;
  (void)cudaGetLastError();
  return nullptr;
}

void give_block(Place& place, std::unique_ptr<Memory> block) {
  const std::lock_guard<std::mutex> hold(place.lock);
  place.block.swap(block);  // with null, unless the device was reset meanwhile
}

}  // namespace

bool is_short_for_bounce(std::size_t nbytes, bool up) {
  return up ? nbytes >= least_up && nbytes <= most_up : nbytes <= longest_bounce;
}

std::optional<Status> copy_by_bounce(void* device, void* host, std::size_t nbytes, bool up) {
  int current = 0;
  if (!is_only_device() && cudaGetDevice(&current)) return {};
  if (!is_device_number(current)) return {};
  Place& place = place_of(current);
  std::unique_ptr<Memory> block = take_block(place, current);
  if (!block) return {};
  auto* const between = static_cast<char*>(block->get().address);
  if (up) copy_past_cache(between, static_cast<const char*>(host), nbytes);
  const cudaError_t error = up ? cudaMemcpy(device, between, nbytes, cudaMemcpyHostToDevice)
                               : cudaMemcpy(between, device, nbytes, cudaMemcpyDeviceToHost);
  if (!up && !error) std::memcpy(host, between, nbytes);
  give_block(place, std::move(block));
  return error;
}

}  // namespace PyGPU
