// Allocation, release and stream order of memory. See memory.h.
#include "PyGPU/runtime/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>

#include "PyGPU/runtime/block_cache.h"
#include "PyGPU/runtime/capture.h"
#include "PyGPU/runtime/memory_pool.h"
#include "PyGPU/runtime/memory_stats.h"

namespace PyGPU {
namespace {

// Storages whose addresses were exposed, by their first address.
struct Exposed {
  std::mutex lock;
  std::map<std::uintptr_t, Storage*> by_start;
};
Exposed& exposed() {
  static auto& all = *new Exposed;  // arrays may outlive the statics
  return all;
}

std::uintptr_t start_of(const Storage& storage) {
  return reinterpret_cast<std::uintptr_t>(storage.address());
}

// Keep one small block allocated. The driver cuts small blocks from larger ones, and frees a larger
// one with its last small block; that takes many times as long as the rest of an allocation.
void keep_one_block(int device) {
  static std::atomic<unsigned> kept[max_devices];  // epoch of the device
  const unsigned now = device_epoch(device);
  if (!capabilities.keeps_blocks || !is_device_number(device) || kept[device].exchange(now) == now)
    return;
  void* stays = nullptr;
  if (cudaMalloc(&stays, 1)) (void)cudaGetLastError();
}

cudaError_t take(MemoryTraits::Handle& block) {
  switch (block.kind) {
    case MemoryKind::host:
      block.address = std::calloc(block.nbytes, 1);
      return block.address ? cudaSuccess : cudaErrorMemoryAllocation;
    case MemoryKind::pinned:
      return waiting_in_relaxed_mode([&] { return cudaMallocHost(&block.address, block.nbytes); });
    case MemoryKind::device:
      return waiting_in_relaxed_mode([&] {
        keep_one_block(block.device);
        return cudaMalloc(&block.address, block.nbytes);
      });
    case MemoryKind::pooled:
      if (!Capture::is_any_active()) release_postponed();
      block.address = block_cache::take(block.device, block.nbytes);
      if (block.address) return cudaSuccess;
      if (is_captured(cudaStream_t())) {
        block.kind = MemoryKind::device;
        return take(block);
      }
      {
        const RelaxedCaptureMode relaxed = relax_capture_mode();
        return cudaMallocFromPoolAsync(&block.address, block.nbytes, memory_pool(block.device),
                                       cudaStream_t());
      }
    case MemoryKind::borrowed: break;  // not allocated here
  }
  return cudaErrorInvalidValue;
}

std::string state_of_memory(MemoryKind kind) {
  if (kind == MemoryKind::host) return " of host memory were requested";
  if (kind == MemoryKind::pinned) return " of page-locked memory were requested";
  const int device = current_device();
  std::size_t free = 0, total = 0;
  std::string text = " were requested on device " + std::to_string(device);
  if (cudaMemGetInfo(&free, &total) == cudaSuccess)
    text += "; " + std::to_string(free) + " of its " + std::to_string(total) + " bytes are free";
  std::uint64_t used = 0;
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  const cudaMemPool_t pool = memory_pool(device);
  if (pool && !cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used))
    text += ", and live arrays of this process hold " + std::to_string(used);
  return text;
}

// Return unused memory of the pool to the system. Postponed frees run in the null stream's order.
void trim_pool(int device) {
  release_postponed();
  (void)waiting_in_relaxed_mode([device] {
    block_cache::give_back(device);
    if (!is_captured(cudaStream_t())) (void)cudaStreamSynchronize(cudaStream_t());
    const cudaMemPool_t pool = memory_pool(device);
    return pool ? cudaMemPoolTrimTo(pool, 0) : cudaSuccess;
  });
  (void)cudaGetLastError();
}

std::function<bool(MemoryKind, int)>& reclaim_hook() {
  static auto& hook = *new std::function<bool(MemoryKind, int)>;
  return hook;
}

}  // namespace

cudaError_t MemoryTraits::release(Handle block) {
  if (block.kind == MemoryKind::host) std::free(block.address);
  if (is_gone(block.device, block.epoch)) return cudaSuccess;
  switch (block.kind) {
    case MemoryKind::pinned:  // waits for the device, as does the next case
      return waiting_in_relaxed_mode([&] { return cudaFreeHost(block.address); });
    case MemoryKind::device:
      discount_plain_memory(block.device, block.nbytes);
      return waiting_in_relaxed_mode([&] { return cudaFree(block.address); });
    case MemoryKind::pooled:  // in the order of the null stream of the block's device
      return call_that_enqueues([&] {
        return release_on_device(block.device, [&] {
          const RelaxedCaptureMode relaxed = relax_capture_mode();
          return cudaFreeAsync(block.address, cudaStream_t());
        });
      });
    case MemoryKind::host:
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
    if (!enter_runtime()) return refused_status();
    if (!is_only_device())
      if (const cudaError_t error = cudaGetDevice(&block.device)) return error;
  }
  block.epoch = device_epoch(block.device);
  if (const cudaError_t error = call_that_enqueues([&] { return take(block); })) return error;
  memory = Memory(block);
  if (block.kind == MemoryKind::device) count_plain_memory(block.device, nbytes);
  return {};
}

Status allocate_again(MemoryKind kind, std::size_t nbytes, Status status,
                      const std::function<Status()>& attempt) {
  for (int turn = 0; status.code == cudaErrorMemoryAllocation; ++turn) {
    if (kind != MemoryKind::host) (void)cudaGetLastError();
    const auto& reclaim = reclaim_hook();
    const bool tries_again = reclaim ? reclaim(kind, turn) : turn == 0;
    if (!tries_again) {
      if (!status.detail.empty()) status.detail += ": ";
      status.detail += std::to_string(nbytes) + " bytes" + state_of_memory(kind);
    }
    if (kind != MemoryKind::host)
      trim_pool(current_device());  // a failed attempt may have grown it
    if (!tries_again) return status;
    status = attempt();
  }
  return status;
}

Status allocate_memory(Memory& memory, MemoryKind kind, std::size_t nbytes) {
  return allocate(kind, nbytes, [&] { return take_memory(memory, kind, nbytes); });
}

void on_out_of_memory(std::function<bool(MemoryKind, int)> reclaim) {
  reclaim_hook() = std::move(reclaim);
}

cudaError_t Storage::UsesTraits::release(Storage* storage) {
  if (forked()) return cudaSuccess;
  return call_that_enqueues([&] { return storage->end_uses(); });
}

cudaError_t Storage::end_uses() {
  const MemoryTraits::Handle& block = memory_.get();
  const bool joins = alive() && !used_on_.empty();
  const bool is_pooled = alive() && block.kind == MemoryKind::pooled;
  const bool is_lent = block.kind == MemoryKind::borrowed && owner_;
  const auto stays = [&] {
    return is_pooled && !exposed_ && block_cache::keep(block.device, block.address, block.nbytes);
  };
  if (!joins && stays()) {
    (void)memory_.give_up();
    return cudaSuccess;
  }
  if ((joins || is_pooled || is_lent) && is_in_capture()) {
    postpone();
    return cudaSuccess;
  }
  const cudaError_t error = joins ? join_streams() : cudaSuccess;
  if (exposed_) {
    const cudaError_t freed = detach_memory().reset();
    return error ? error : freed;
  }
  if (joins && !error && stays()) (void)memory_.give_up();
  return error;
}

bool Storage::is_in_capture() {
  if (would_invalidate_capture(device())) return true;
  const std::lock_guard<std::mutex> hold(lock_);
  return std::any_of(used_on_.begin(), used_on_.end(),
                     [](const auto& uses) { return uses->is_captured(); });
}

void Storage::postpone() {
  auto later = std::make_shared<Storage>();
  later->memory_ = detach_memory();
  {
    const std::lock_guard<std::mutex> hold(lock_);
    later->used_on_ = std::move(used_on_);
  }
  later->owner_ = std::move(owner_);
  later->exposed_ = exposed_.load();
  PyGPU::postpone(std::move(later));
}

std::shared_ptr<Storage> Storage::adopt(void* address, std::size_t nbytes) {
  // The memory is freed even if the device cannot be determined.
  Memory memory(MemoryTraits::Handle{address, nbytes, MemoryKind::device, 0, device_epoch(0)});
  const auto storage = std::make_shared<Storage>();
  const int device = current_device();
  (void)memory.give_up();
  storage->memory_ = Memory(
      MemoryTraits::Handle{address, nbytes, MemoryKind::device, device, device_epoch(device)});
  count_plain_memory(device, nbytes);
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

namespace {

// Return memory for an array of a capture: new memory, or that of an unreferenced array of the
// capture. Work on one stream runs in its order, so later work may overwrite memory that no later
// work reads.
std::shared_ptr<Storage> take_in(Capture& capture, std::size_t nbytes) {
  auto& taken = capture.owners.taken;
  if (!capture.forks())
    for (const std::shared_ptr<Storage>& storage : taken)
      if (storage.use_count() == 1 && storage->nbytes() == nbytes && storage->alive() &&
          !storage->is_exposed() && storage->device() == current_device())
        return storage;
  taken.push_back(Storage::take(nbytes, MemoryKind::device));
  return taken.back();
}

}  // namespace

std::shared_ptr<Storage> Storage::take(std::size_t nbytes, MemoryKind kind) {
  Capture* const capture = Capture::current();
  if (capture && kind == MemoryKind::pooled) return take_in(*capture, nbytes);
  if (kind == MemoryKind::pooled && !memory_pool(current_device())) kind = MemoryKind::device;
  const auto storage = std::make_shared<Storage>();
  const Status status = allocate_memory(storage->memory_, kind, nbytes);
  check(kind == MemoryKind::pooled ? "cudaMallocAsync" : "cudaMalloc", status);
  return storage;
}

std::shared_ptr<Storage> Storage::holding(const void* address) {
  if (forked()) return nullptr;
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  std::lock_guard<std::mutex> hold(exposed().lock);
  const auto after = exposed().by_start.upper_bound(number);
  if (after == exposed().by_start.begin()) return nullptr;
  const auto [start, storage] = *std::prev(after);
  const bool inside = number - start < storage->nbytes() && storage->alive();
  return inside ? storage->weak_from_this().lock() : nullptr;
}

// Register the storage for `holding`. If it overlaps a live registered storage, as memory lent by
// another library may, the registered one stays.
void Storage::remember() {
  if (forked()) return;  // inherited entries may point to storages that are gone
  std::lock_guard<std::mutex> hold(exposed().lock);
  if (!memory_) return;  // freed in the meantime
  auto& known = exposed().by_start;
  auto next = known.lower_bound(start_of(*this));
  if (next != known.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second->nbytes() > start_of(*this)) next = before;
  }
  while (next != known.end() && next->first < start_of(*this) + nbytes()) {
    if (next->second->alive()) return;
    next = known.erase(next);  // lost in a reset of its device
  }
  known.emplace(start_of(*this), this);
}

Memory Storage::detach_memory() {
  if (!exposed_) return std::move(memory_);
  std::lock_guard<std::mutex> hold(exposed().lock);
  const auto found = exposed().by_start.find(start_of(*this));
  if (found != exposed().by_start.end() && found->second == this) exposed().by_start.erase(found);
  return std::move(memory_);
}

bool Storage::alive() const {
  return memory_ && memory_.get().epoch == device_epoch(memory_.get().device);
}

bool Storage::is_in_null_order() const {
  return memory_.get().kind == MemoryKind::pooled || memory_.get().kind == MemoryKind::borrowed;
}

void Storage::throw_freed() const {
  const char* const reason = address()
                                 ? "cudaDeviceReset has taken the array's memory since it was made"
                                 : "the array's memory was freed (gpudata.free()) before this use";
  throw DeviceError("GPUArray", {cudaErrorInvalidDevicePointer, reason});
}

void Storage::enter(const StreamRef& stream) {
  Capture* const capture = Capture::current();
  if (capture && capture->records(stream)) return capture->uses(shared_from_this(), stream);
  if (!is_in_null_order()) return;
  if (!is_non_blocking(stream, device())) {
    if (stream.handle) expose();  // blocking streams wait for the null stream, not for each other
    return;
  }
  (void)call_that_enqueues([&] {
    begin_use(stream);
    return cudaSuccess;
  });
}

// Order a non-blocking stream after the null stream, at its first use of the memory.
void Storage::begin_use(const StreamRef& stream) {
  const auto uses = stream.owner ? stream.owner->uses() : nullptr;
  {  // the lock is not held while anything waits
    const std::lock_guard<std::mutex> hold(lock_);
    // A stream that is over was already joined to the null stream.
    const auto is_over = [](const auto& one) { return one->is_over(); };
    used_on_.erase(std::remove_if(used_on_.begin(), used_on_.end(), is_over), used_on_.end());
    if (uses && std::find(used_on_.begin(), used_on_.end(), uses) != used_on_.end()) return;
  }
  if (is_captured(stream.handle)) return order_after_all(stream, device());
  check("cudaStreamWaitEvent", order_after(stream.handle, cudaStream_t(), device()));
  if (uses) join_at_end(uses);
}

void Storage::join_at_end(const std::shared_ptr<StreamUses>& uses) {
  uses->add(device());
  const std::lock_guard<std::mutex> hold(lock_);
  if (std::find(used_on_.begin(), used_on_.end(), uses) == used_on_.end()) used_on_.push_back(uses);
}

cudaError_t Storage::leave(const StreamRef& stream) {
  if (Capture::current() && Capture::current()->records(stream)) return cudaSuccess;
  // A foreign stream may be destroyed before the memory is freed, so the null stream waits for it
  // now.
  if (stream.owner || !is_in_null_order() || !is_non_blocking(stream, device())) return cudaSuccess;
  if (is_captured(stream.handle))
    return cudaSuccess;  // by another library: whoever launches its graph keeps the arrays alive
  // Fails for a stream of another device.
  if (!call_that_enqueues([&] { return order_after(cudaStream_t(), stream.handle, device()); }))
    return cudaSuccess;
  return call_that_waits([&] { return cudaStreamSynchronize(stream.handle); });
}

// Make the null stream of the memory's device wait for the streams that used the memory.
cudaError_t Storage::join_streams() {
  std::lock_guard<std::mutex> hold(lock_);
  if (used_on_.empty()) return cudaSuccess;
  const RelaxedCaptureMode relaxed = relax_capture_mode();
  const cudaError_t outcome = on_device(device(), [this] {
    cudaError_t worst = cudaSuccess;
    for (const auto& uses : used_on_)
      if (const cudaError_t error = uses->join()) worst = error;
    return worst;
  });
  used_on_.clear();
  return outcome;
}

Status Storage::free() {
  if (forked() || in_host_function) return refused_status();
  if (alive() && is_in_null_order() && is_in_capture()) {
    postpone();
    return {};
  }
  const cudaError_t joined = call_that_enqueues([&] { return join_streams(); });
  const cudaError_t freed = detach_memory().reset();
  return joined ? joined : freed;
}

}  // namespace PyGPU
