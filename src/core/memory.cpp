// Blocks of memory. See memory.h.
#include "PyGPU/memory.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "PyGPU/small_blocks.h"

namespace PyGPU {
namespace {

// Does the device have the runtime's pool? Queried once a device; the pool's release threshold is
// then raised, so that it keeps freed memory and the next allocation needs no call to the driver.
bool has_pool(int device) {
  static std::atomic<unsigned> known[max_devices];  // 0: not known; 2 * epoch + (1: yes, 2: no)
  if (device < 0 || device >= max_devices) return false;
  const unsigned yes_now = 2 * device_epoch(device) + 1;
  unsigned answer = known[device].load(std::memory_order_relaxed);
  if (answer != yes_now && answer != yes_now + 1) {
    int supported = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
    const bool yes = !cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device) &&
                     supported && !cudaDeviceGetDefaultMemPool(&pool, device) &&
                     !cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    if (!yes) (void)cudaGetLastError();
    known[device] = answer = yes ? yes_now : yes_now + 1;
  }
  return answer == yes_now;
}

cudaError_t take(MemoryTraits::Handle& block) {
  switch (block.kind) {
    case MemoryKind::host:
      block.address = std::calloc(block.nbytes, 1);
      return block.address ? cudaSuccess : cudaErrorMemoryAllocation;
    case MemoryKind::pinned: return cudaMallocHost(&block.address, block.nbytes);
    case MemoryKind::device: return cudaMalloc(&block.address, block.nbytes);
    case MemoryKind::pooled:
      block.address = small_blocks::take(block.device, block.nbytes);
      if (block.address) return cudaSuccess;
      return cudaMallocAsync(&block.address, block.nbytes, cudaStream_t());
    case MemoryKind::borrowed: break;  // never allocated here
  }
  return cudaErrorInvalidValue;
}

std::string shortage(std::size_t nbytes, int device) {
  std::size_t free = 0, total = 0;
  std::string text =
      std::to_string(nbytes) + " bytes were asked for on device " + std::to_string(device);
  if (cudaMemGetInfo(&free, &total) == cudaSuccess)
    text += "; " + std::to_string(free) + " of its " + std::to_string(total) + " bytes are free";
  cudaMemPool_t pool = nullptr;
  std::uint64_t used = 0;
  if (has_pool(device) && !cudaDeviceGetDefaultMemPool(&pool, device) &&
      !cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used))
    text += ", and live arrays of this process hold " + std::to_string(used);
  return text;
}

void trim_pool(int device) {
  small_blocks::give_back(device);
  cudaMemPool_t pool = nullptr;
  (void)cudaDeviceSynchronize();
  if (has_pool(device) && !cudaDeviceGetDefaultMemPool(&pool, device))
    (void)cudaMemPoolTrimTo(pool, 0);
  (void)cudaGetLastError();
}

std::function<void()>& reclaim_hook() {
  static auto& hook = *new std::function<void()>;
  return hook;
}

}  // namespace

cudaError_t MemoryTraits::release(Handle block) {
  const bool ours = !is_gone(block.device, block.epoch);
  switch (block.kind) {
    case MemoryKind::host: std::free(block.address); break;
    case MemoryKind::pinned: return ours ? cudaFreeHost(block.address) : cudaSuccess;
    case MemoryKind::device: return ours ? cudaFree(block.address) : cudaSuccess;
    case MemoryKind::pooled:  // in the order of its own device's null stream
      if (!ours) return cudaSuccess;
      return release_on_device(block.device,
                               [&] { return cudaFreeAsync(block.address, cudaStream_t()); });
    case MemoryKind::borrowed: break;
  }
  return cudaSuccess;
}

Status take_memory(Memory& memory, MemoryKind kind, std::size_t nbytes) {
  memory = Memory();
  if (nbytes == 0) return {};
  MemoryTraits::Handle block;
  block.nbytes = nbytes;
  block.kind = kind;
  if (kind != MemoryKind::host) {
    if (!enter_runtime()) return forked_status();
    if (!is_only_device())
      if (const cudaError_t error = cudaGetDevice(&block.device)) return error;
  }
  block.epoch = device_epoch(block.device);
  if (const cudaError_t error = take(block))
    return {error, std::to_string(nbytes) + " bytes were asked for"};
  memory = Memory(block);
  return {};
}

cudaError_t Storage::UsesTraits::release(Storage* storage) {
  if (!storage->alive() || forked()) return cudaSuccess;
  const cudaError_t error = storage->used_on_.empty() ? cudaSuccess : storage->join_streams();
  const MemoryTraits::Handle& block = storage->memory_.get();
  const bool may_stay = !error && block.kind == MemoryKind::pooled && !storage->exposed_;
  if (may_stay && small_blocks::keep(block.device, block.address, block.nbytes))
    (void)storage->memory_.give_up();
  return error;
}

std::shared_ptr<Storage> Storage::adopt(void* address, std::size_t nbytes) {
  // Freed also where the device cannot be told.
  Memory memory(MemoryTraits::Handle{address, nbytes, MemoryKind::device, 0, device_epoch(0)});
  const auto storage = std::make_shared<Storage>();
  const int device = current_device();
  (void)memory.give_up();
  storage->memory_ = Memory(
      MemoryTraits::Handle{address, nbytes, MemoryKind::device, device, device_epoch(device)});
  return storage;
}

std::shared_ptr<Storage> Storage::borrow(void* address, std::size_t nbytes, int device,
                                         std::shared_ptr<const void> owner) {
  const auto storage = std::make_shared<Storage>();
  storage->memory_ = Memory(
      MemoryTraits::Handle{address, nbytes, MemoryKind::borrowed, device, device_epoch(device)});
  storage->owner_ = std::move(owner);
  return storage;
}

std::shared_ptr<Storage> Storage::take(std::size_t nbytes, MemoryKind kind) {
  const int device = current_device();
  if (!has_pool(device)) kind = MemoryKind::device;
  const auto storage = std::make_shared<Storage>();
  Status status = take_memory(storage->memory_, kind, nbytes);
  if (status.code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    if (reclaim_hook()) reclaim_hook()();
    trim_pool(device);
    status = take_memory(storage->memory_, kind, nbytes);
    if (status.code == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      status.detail = shortage(nbytes, device);
      trim_pool(device);  // the failed attempt may have made the pool grow
    }
  }
  check(kind == MemoryKind::pooled ? "cudaMallocAsync" : "cudaMalloc", status);
  return storage;
}

void Storage::on_shortage(std::function<void()> reclaim) { reclaim_hook() = std::move(reclaim); }

bool Storage::alive() const {
  return memory_ && memory_.get().epoch == device_epoch(memory_.get().device);
}

bool Storage::in_null_order() const {
  return memory_.get().kind == MemoryKind::pooled || memory_.get().kind == MemoryKind::borrowed;
}

void Storage::enter(const StreamRef& stream) {
  if (!in_null_order()) return;
  if (!is_non_blocking(stream, device())) {
    if (stream.handle) expose();  // such streams wait for the null stream, not for each other
    return;
  }
  std::lock_guard<std::mutex> hold(lock_);
  for (const StreamRef& known : used_on_)
    if (known.owner == stream.owner) return;
  check("cudaStreamWaitEvent", order_after(stream.handle, cudaStream_t(), device()));
  if (stream.owner) used_on_.push_back(stream);
}

void Storage::leave(const StreamRef& stream) {
  // A foreign stream may be gone by the time the memory is freed: the null stream waits for it now.
  if (stream.owner || !in_null_order() || !is_non_blocking(stream, device())) return;
  if (order_after(cudaStream_t(), stream.handle, device()))  // fails for another device's stream
    check("cudaStreamSynchronize", cudaStreamSynchronize(stream.handle));
}

// Makes the null stream of the memory's device wait for the streams that used it.
cudaError_t Storage::join_streams() {
  std::lock_guard<std::mutex> hold(lock_);
  if (used_on_.empty()) return cudaSuccess;
  const cudaError_t outcome = on_device(device(), [this] {
    cudaError_t worst = cudaSuccess;
    for (const StreamRef& stream : used_on_) {
      // The null stream was already ordered after a stream that was destroyed.
      if (stream.owner->get() != stream.handle) continue;
      const cudaError_t error = order_after(cudaStream_t(), stream.handle, stream.owner->device());
      if (error) worst = error;
    }
    return worst;
  });
  used_on_.clear();
  return outcome;
}

Status Storage::free() {
  const cudaError_t joined = join_streams();
  const cudaError_t freed = memory_.reset();
  return joined ? joined : freed;
}

}  // namespace PyGPU
