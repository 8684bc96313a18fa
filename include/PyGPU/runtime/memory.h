// Blocks of memory of every kind, each released by the call that matches its allocation.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

#include "capture.h"
#include "stream.h"
#include "unique_handle.h"

namespace PyGPU {

enum class MemoryKind {
  host,      // pageable, zeroed
  pinned,    // page-locked host memory
  device,    // from cudaMalloc
  pooled,    // from PyGPU's pool in the runtime, in the null stream's order
  borrowed,  // of another library, used in the null stream's order
};

struct MemoryTraits {
  struct Handle {
    void* address = nullptr;
    std::size_t nbytes = 0;
    MemoryKind kind = MemoryKind::host;
    int device = 0;
    unsigned epoch = 0;
    bool operator==(const Handle& other) const { return address == other.address; }
  };
  static constexpr const char* name = "memory";
  static cudaError_t release(Handle handle);
};

using Memory = UniqueHandle<MemoryTraits>;

// Allocate `nbytes` on the current device. For 0 bytes the handle stays empty, without an error.
Status take_memory(Memory& memory, MemoryKind kind, std::size_t nbytes);

// Reclaim memory and try again, after the first attempt of allocate() has failed with `status`.
[[gnu::cold]] Status allocate_again(MemoryKind kind, std::size_t nbytes, Status status,
                                    const std::function<Status()>& attempt);
// Make the allocation `attempt` of `nbytes` on the current device. Out of memory: runs `reclaim`,
// trims the pool and tries again, until `reclaim` releases nothing more. The last failure's detail
// has the size and the state of the device's memory.
template <class Attempt>
Status allocate(MemoryKind kind, std::size_t nbytes, Attempt attempt) {
  const Status first = attempt();
  return first.code == cudaErrorMemoryAllocation ? allocate_again(kind, nbytes, first, attempt)
                                                 : first;
}
Status allocate_memory(Memory& memory, MemoryKind kind, std::size_t nbytes);
// Set `reclaim(kind, turn)`, which returns whether it may have released memory of that kind. Turns
// count from 0. The bindings collect Python's garbage, then release the free blocks of pools.
void on_out_of_memory(std::function<bool(MemoryKind, int)> reclaim);

// Device memory of an array, shared by its views and freed with the last of them.
class Storage : public std::enable_shared_from_this<Storage> {
 public:
  Storage() : uses_(this) {}
  // Allocate memory of `kind` as `allocate_memory` does, or plain device memory where the device
  // has no pools and with PYGPU_POOLS=0.
  static std::shared_ptr<Storage> take(std::size_t nbytes, MemoryKind kind = MemoryKind::pooled);
  // Take ownership of memory that must be freed by cudaFree.
  static std::shared_ptr<Storage> adopt(void* address, std::size_t nbytes);
  // Use memory of another library, valid as long as `owner` lives.
  static std::shared_ptr<Storage> borrow(void* address, std::size_t nbytes, int device,
                                         std::shared_ptr<const void> owner);
  // Return the exposed storage that contains an address; null if there is none.
  static std::shared_ptr<Storage> holding(const void* address);

  void* address() const { return memory_.get().address; }
  std::size_t nbytes() const { return memory_.get().nbytes; }
  std::size_t nbytes_from(const void* inside) const {
    return nbytes() - std::size_t(static_cast<const char*>(inside) - static_cast<char*>(address()));
  }
  // Record that other code gets the address and may use it on unknown streams. When freed, the
  // memory then returns to the runtime and is not reused by the next array. If the address comes
  // back, `holding` finds this storage.
  void expose() {
    if (!exposed_.exchange(true)) remember();
  }
  bool is_exposed() const { return exposed_; }
  int device() const { return memory_.get().device; }
  bool alive() const;
  // Throw DeviceError if the memory was freed.
  void require_alive() const {
    if (!alive()) throw_freed();
  }
  // Call these before and after enqueueing work on `stream` that uses the memory. Pooled and
  // borrowed memory is allocated and freed in the order of the null stream, which a non-blocking
  // stream does not follow. Such a stream's first use waits for the null stream; freeing waits for
  // its last use.
  void enter(const StreamRef& stream);
  cudaError_t leave(const StreamRef& stream);
  // Make freeing wait for a stream that is already ordered after the null stream.
  void join_at_end(const std::shared_ptr<StreamUses>& uses);
  // Free the memory now, even if others share it.
  Status free();

 private:
  // Runs before `memory_` is released: orders the null stream after the other streams that used the
  // memory, and may cache the block.
  struct UsesTraits {
    using Handle = Storage*;
    static constexpr const char* name = "memory";
    static cudaError_t release(Storage* storage);
  };

  [[noreturn]] void throw_freed() const;
  void remember();
  cudaError_t end_uses();
  void begin_use(const StreamRef& stream);
  Memory detach_memory();  // removes the memory from those that `holding` finds
  bool is_in_capture();  // whether freeing it, or waiting for its uses, would invalidate a capture
  void postpone();
  cudaError_t join_streams();
  bool is_in_null_order() const;

  std::shared_ptr<const void> owner_;
  std::mutex lock_;                                   // guards used_on_
  std::vector<std::shared_ptr<StreamUses>> used_on_;  // PyGPU's non-blocking streams
  Memory memory_;
  std::atomic<bool> exposed_{false};
  UniqueHandle<UsesTraits> uses_;
};

// Memory that work on a stream uses: kept from its registration to the launch, checked, and ordered
// among its other uses. Python code that runs in between, such as an allocator or a compile hook,
// may free the memory; `run` then throws instead of enqueueing.
class StreamOrder {
 public:
  explicit StreamOrder(const StreamRef& stream) : stream_(stream) {}
  // Order work with several uses, each of different memory.
  StreamOrder(const StreamRef& stream, const std::vector<std::shared_ptr<Storage>>& used)
      : stream_(stream) {
    if (stream.handle) more_ = used;
  }
  // Add a use. Null means memory that another owner keeps and orders.
  void uses(const std::shared_ptr<Storage>& storage) {
    if (!storage) return;
    if (stream_.handle)
      for (std::size_t i = 0; i < count(); ++i)
        if (at(i) == storage) return;
    if (first_count_ < std::size(first_))
      first_[first_count_++] = storage;
    else
      more_.push_back(storage);
  }
  // Add a use of PyGPU's memory at an address, if there is any. Work on the null stream needs no
  // ordering.
  void uses_at(const void* address) {
    if (stream_.handle) uses(Storage::holding(address));
  }
  // Run `work`, which enqueues on the stream. DeviceError if memory was freed. If `work` throws,
  // part of it may be enqueued.
  template <class Work>
  void run(Work work) {
    for (std::size_t i = 0; i < count(); ++i) at(i)->require_alive();
    if (!stream_.handle) return work();
    std::size_t entered = 0;
    const auto leave = [&] {  // all of the memory, also after an error; returns the first error
      cudaError_t first = cudaSuccess;
      while (entered > 0)
        if (const cudaError_t error = at(--entered)->leave(stream_); error && !first) first = error;
      return first;
    };
    try {
      for (; entered < count(); ++entered) at(entered)->enter(stream_);
      work();
    } catch (...) {
      (void)leave();
      throw;
    }
    check("cudaStreamSynchronize", leave());
  }

 private:
  std::size_t count() const { return first_count_ + more_.size(); }
  const std::shared_ptr<Storage>& at(std::size_t i) const {
    return i < first_count_ ? first_[i] : more_[i - first_count_];
  }

  StreamRef stream_;
  std::shared_ptr<Storage> first_[4];  // allocates nothing for most launches
  std::size_t first_count_ = 0;
  std::vector<std::shared_ptr<Storage>> more_;
};

}  // namespace PyGPU
