// The page-locked block of each device. See bounce.h.
#include "PyGPU/runtime/bounce.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "PyGPU/runtime/event_wait.h"
#include "PyGPU/runtime/memory.h"
#include "PyGPU/runtime/streaming_copy.h"

namespace PyGPU {
namespace {

// Sizes measured on an H200, as in plan_staging().
constexpr std::size_t least_up = 48 << 10, most_up = 80 << 10;

// Bytes from which a download is waited for by an event, in a loop, which gains a microsecond.
constexpr std::size_t looked_for_from = 12 << 10;

// Making a block takes as long as a hundred copies.
constexpr unsigned copies_before = 32;

struct Block {
  Memory memory;
  Event arrived{cudaEventDisableTiming | cudaEventBlockingSync};
  char* address() const { return static_cast<char*>(memory.get().address); }
};

struct Place {
  std::mutex lock;
  std::unique_ptr<Block> block;      // null while a thread uses it
  unsigned copies = 0, made_in = 0;  // epoch of the device in which it was made
};

Place& place_of(int device) {
  static Place* const all = new Place[max_devices];  // outlives the runtime, so it is never freed
  return all[device];
}

// Return the block for this thread's use, or null.
std::unique_ptr<Block> take_block(Place& place, int device) {
  const unsigned epoch = device_epoch(device);
  std::unique_ptr<Block> block;  // one that a reset has taken is dropped after the lock
  {
    const std::lock_guard<std::mutex> hold(place.lock);
    block = std::move(place.block);
    if (block && block->memory.get().epoch == epoch) return block;
    if (place.made_in == epoch || ++place.copies < copies_before) return nullptr;
    place.made_in = epoch;
  }
  block = std::make_unique<Block>();
  if (!block->arrived.status.failed() &&
      !take_memory(block->memory, MemoryKind::pinned, longest_bounce).failed())
    return block;
  (void)cudaGetLastError();
  return nullptr;
}

void give_block(Place& place, std::unique_ptr<Block> block) {
  const std::lock_guard<std::mutex> hold(place.lock);
  // Otherwise the device was reset, and another thread has made a block.
  if (!place.block) place.block = std::move(block);
}

// Forget the block, so that another one is made after some more copies.
void lose_block(Place& place) {
  const std::lock_guard<std::mutex> hold(place.lock);
  place.copies = place.made_in = 0;
}

cudaError_t upload(const Block& block, void* device, const char* host, std::size_t nbytes) {
  copy_past_cache(block.address(), host, nbytes);
  return cudaMemcpy(device, block.address(), nbytes, cudaMemcpyHostToDevice);
}

// Download, and wait for the copy's event. After an error the copy may still be under way.
cudaError_t download_looking(const Block& block, const void* device, std::size_t nbytes) {
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  const cudaStream_t null_stream{};
  cudaError_t error =
      cudaMemcpyAsync(block.address(), device, nbytes, cudaMemcpyDeviceToHost, null_stream);
  if (!error) error = cudaEventRecord(block.arrived.get(), null_stream);
  return error ? error : wait_for(block.arrived.get());
}

cudaError_t download(const Block& block, char* host, const void* device, std::size_t nbytes) {
  const cudaError_t error =
      waits_beside_captures && nbytes >= looked_for_from
          ? download_looking(block, device, nbytes)
          : cudaMemcpy(block.address(), device, nbytes, cudaMemcpyDeviceToHost);
  if (!error) std::memcpy(host, block.address(), nbytes);
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
  std::unique_ptr<Block> block = take_block(place, current);
  if (!block) return {};
  auto* const bytes = static_cast<char*>(host);
  const cudaError_t error =
      up ? upload(*block, device, bytes, nbytes) : download(*block, bytes, device, nbytes);
  if (error && cudaStreamSynchronize(cudaStream_t())) {
    (void)cudaGetLastError();
    lose_block(place);  // `block` is released, which waits for the device
  } else {
    give_block(place, std::move(block));
  }
  return error;
}

}  // namespace PyGPU
