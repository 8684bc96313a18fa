// The page-locked block of each device. See bounce.h.
#include "PyGPU/runtime/bounce.h"

#include <cstring>
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
  Memory block;                      // none while a thread uses it
  unsigned copies = 0, made_in = 0;  // epoch of the device in which it was made
};

Place& place_of(int device) {
  static Place* const all = new Place[max_devices];  // outlives the runtime, so it is never freed
  return all[device];
}

// Return the block for this thread's use, or none.
Memory take_block(Place& place, int device) {
  const unsigned epoch = device_epoch(device);
  Memory block;  // one that a reset has taken is dropped after the lock
  Memory made;
  {
    const std::lock_guard<std::mutex> hold(place.lock);
    block = std::move(place.block);
    if (block && block.get().epoch == epoch) return block;
    if (place.made_in == epoch || ++place.copies < copies_before) return made;
    place.made_in = epoch;
  }
  if (take_memory(made, MemoryKind::pinned, longest_bounce).failed()) (void)cudaGetLastError();
  return made;
}

// After a reset, other threads may have made a new block, and give it back before or after this
// one.
void give_block(Place& place, int device, Memory block) {
  const unsigned epoch = device_epoch(device);
  Memory old;  // dropped after the lock
  const std::lock_guard<std::mutex> hold(place.lock);
  if (block.get().epoch == epoch) old = std::exchange(place.block, std::move(block));
}

cudaError_t upload(char* block, void* device, const char* host, std::size_t nbytes) {
  copy_past_cache(block, host, nbytes);
  return cudaMemcpy(device, block, nbytes, cudaMemcpyHostToDevice);
}

cudaError_t download(char* block, char* host, const void* device, std::size_t nbytes) {
  const cudaError_t error = cudaMemcpy(block, device, nbytes, cudaMemcpyDeviceToHost);
  if (!error) std::memcpy(host, block, nbytes);
  return error;
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
  Memory block = take_block(place, current);
  if (!block) return {};
  auto* const middle = static_cast<char*>(block.get().address);
  auto* const bytes = static_cast<char*>(host);
  const cudaError_t error =
      up ? upload(middle, device, bytes, nbytes) : download(middle, bytes, device, nbytes);
  give_block(place, current, std::move(block));
  return error;
}

}  // namespace PyGPU
