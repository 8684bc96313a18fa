// Blocks of memory of every kind, each released the way it was taken.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "postponed.h"
#include "stream.h"
#include "unique_handle.h"

namespace PyGPU {

enum class MemoryKind {
  host,      // pageable, zeroed
  pinned,    // page-locked host memory
  device,    // cudaMalloc
  pooled,    // from a pool of ours of the runtime's, in the null stream's order
  borrowed,  // another library's, used in the null stream's order
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

// Allocate `nbytes` on the current device. For zero bytes the handle stays empty, without an error.
Status take_memory(Memory& memory, MemoryKind kind, std::size_t nbytes);

// cudaDeviceEnablePeerAccess and its end for the current device, for our pool on `peer` as well.
Status enable_peer_access(int peer, unsigned flags);
Status disable_peer_access(int peer);
// Was that device's memory made reachable so?
bool reaches_peer(int device, int peer);

// Device memory of an array, shared by its views, freed with the last of them.
class Storage : public std::enable_shared_from_this<Storage> {
 public:
  Storage() : uses_(this) {}
  // Memory of `kind`; where there is no pool, and with PYGPU_POOLS=0, plain device memory.
  // Out of memory: runs `reclaim`, trims the pool, tries once more, then throws DeviceError with the
  // state of the memory.
  static std::shared_ptr<Storage> take(std::size_t nbytes, MemoryKind kind = MemoryKind::pooled);
  // Takes over memory that cudaFree is to free.
  static std::shared_ptr<Storage> adopt(void* address, std::size_t nbytes);
  // Memory of another library, valid as long as `owner` is held.
  static std::shared_ptr<Storage> borrow(void* address, std::size_t nbytes, int device,
                                         std::shared_ptr<const void> owner);
  // The memory that an address lies in, if it is ours and was exposed; else null.
  static std::shared_ptr<Storage> holding(const void* address);
  // Sets `reclaim`, which runs when memory is short; for the bindings, Python's garbage collector.
  static void on_shortage(std::function<void()> reclaim);

  void* address() const { return memory_.get().address; }
  std::size_t nbytes() const { return memory_.get().nbytes; }
  std::size_t nbytes_from(const void* inside) const {
    return nbytes() - std::size_t(static_cast<const char*>(inside) - static_cast<char*>(address()));
  }
  // The address becomes known to code that may use it on streams we know nothing of: the memory
  // then goes back to the runtime when it is freed, not to the next array. Where the address
  // comes back, `holding` finds the memory.
  void expose() {
    if (!exposed_.exchange(true)) remember();
  }
  bool is_exposed() const { return exposed_; }
  int device() const { return memory_.get().device; }
  bool alive() const;
  // Call before and after enqueueing work on `stream` that uses this memory. Pooled and borrowed
  // memory is allocated and freed in the order of the null stream, which a non-blocking stream does
  // not follow: its first use waits for the null stream, and freeing waits for its last.
  void enter(const StreamRef& stream);
  void leave(const StreamRef& stream);
  // Freeing waits for a stream that is in order already.
  void join_at_end(const std::shared_ptr<StreamUses>& uses);
  // Free it now, even if others share it.
  Status free();

 private:
  // Runs before `memory_` is released: orders the null stream after the other streams that used it,
  // and may keep a block.
  struct UsesTraits {
    using Handle = Storage*;
    static constexpr const char* name = "memory";
    static cudaError_t release(Storage* storage);
  };

  void remember();
  Memory take_out();     // the memory, which `holding` finds no more
  bool is_in_capture();  // would freeing it, or waiting for its uses, invalidate one?
  void postpone();
  cudaError_t join_streams();
  bool in_null_order() const;

  std::shared_ptr<const void> owner_;
  std::mutex lock_;                                   // of used_on_
  std::vector<std::shared_ptr<StreamUses>> used_on_;  // of non-blocking streams of ours
  Memory memory_;
  std::atomic<bool> exposed_{false};
  UniqueHandle<UsesTraits> uses_;
};

// The order of work on a stream among all uses of the memory that it touches.
class StreamOrder {
 public:
  explicit StreamOrder(const StreamRef& stream) : stream_(stream) {}
  // Of so many uses at once, each of other memory.
  StreamOrder(const StreamRef& stream, const std::vector<std::shared_ptr<Storage>>& used)
      : stream_(stream) {
    if (stream.handle) used_ = used;
  }
  // Null: memory that somebody else answers for. Work on the null stream is in order by itself.
  void uses(const std::shared_ptr<Storage>& storage) {
    if (!stream_.handle || !storage) return;
    if (std::find(used_.begin(), used_.end(), storage) == used_.end()) used_.push_back(storage);
  }
  // The memory of ours that an address lies in, if any.
  void uses_at(const void* address) {
    if (stream_.handle) uses(Storage::holding(address));
  }
  // `work` enqueues on the stream; if it throws, part of it may be there.
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
