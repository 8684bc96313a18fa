// Blocks of memory of every kind, each released by the call that matches its allocation.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
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

// Device memory of an array, shared by its views and freed with the last of them.
class Storage : public std::enable_shared_from_this<Storage> {
 public:
  Storage() : uses_(this) {}
  // Allocate memory of `kind`, or plain device memory where the device has no pools and with
  // PYGPU_POOLS=0. Out of memory: runs `reclaim`, trims the pool, retries once, then throws
  // DeviceError with the state of the memory.
  static std::shared_ptr<Storage> take(std::size_t nbytes, MemoryKind kind = MemoryKind::pooled);
  // Take ownership of memory that must be freed by cudaFree.
  static std::shared_ptr<Storage> adopt(void* address, std::size_t nbytes);
  // Use memory of another library, valid as long as `owner` lives.
  static std::shared_ptr<Storage> borrow(void* address, std::size_t nbytes, int device,
                                         std::shared_ptr<const void> owner);
  // Return the exposed storage that contains an address; null if there is none.
  static std::shared_ptr<Storage> holding(const void* address);
  // Set `reclaim`, which runs when memory is short; the bindings set Python's garbage collector.
  static void on_out_of_memory(std::function<void()> reclaim);

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
  // Call these before and after enqueueing work on `stream` that uses the memory. Pooled and
  // borrowed memory is allocated and freed in the order of the null stream, which a non-blocking
  // stream does not follow. Such a stream's first use waits for the null stream; freeing waits for
  // its last use.
  void enter(const StreamRef& stream);
  void leave(const StreamRef& stream);
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

// Order of work on a stream among all uses of the memory that the work accesses.
class StreamOrder {
 public:
  explicit StreamOrder(const StreamRef& stream) : stream_(stream) {}
  // Order work with several uses, each of different memory.
  StreamOrder(const StreamRef& stream, const std::vector<std::shared_ptr<Storage>>& used)
      : stream_(stream) {
    if (stream.handle) used_ = used;
  }
  // Add a use. Null means memory that another owner orders. Work on the null stream needs no
  // ordering.
  void uses(const std::shared_ptr<Storage>& storage) {
    if (!stream_.handle || !storage) return;
    if (std::find(used_.begin(), used_.end(), storage) == used_.end()) used_.push_back(storage);
  }
  // Add a use of PyGPU's memory at an address, if there is any.
  void uses_at(const void* address) {
    if (stream_.handle) uses(Storage::holding(address));
  }
  // Run `work`, which enqueues on the stream. If it throws, part of the work may be enqueued.
  template <class Work>
  void run(Work work) {
    std::size_t entered = 0;
    const auto leave = [&] {
      while (entered > 0) used_[--entered]->leave(stream_);
    };
    try {
      for (; entered < used_.size(); ++entered) used_[entered]->enter(stream_);
      work();
    } catch (...) {
      leave();
      throw;
    }
    leave();
  }

 private:
  const StreamRef& stream_;
  std::vector<std::shared_ptr<Storage>> used_;
};

}  // namespace PyGPU
