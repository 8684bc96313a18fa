// Reports from a kernel to the host through words of page-locked memory.
#pragma once

#include <chrono>
#include <limits>
#include <mutex>
#include <vector>

#include "PyGPU/arrays/array.h"
#include "PyGPU/runtime/graph.h"
#include "python/runtime/call.h"

namespace PyGPU::python {

// A place for one report: a word of host memory, and three words of device memory that the blocks
// of a kernel share (CHECKS in PyGPU/_kernels/text/gather.py). The device words are 0 between
// launches, so launches on the null stream use them one after another. A reset of the device frees
// them.
struct ReportSlot {
  Index* word = nullptr;
  void* checks = nullptr;
  int device = 0;
  unsigned epoch = 0;
  bool operator==(const ReportSlot& other) const { return word == other.word; }
};

// Pool of free slots. Their memory is never freed.
struct ReportPool {
  std::mutex lock;
  std::vector<ReportSlot> free;
  std::vector<Array> checks;

  static ReportPool& all() {
    static auto& pool = *new ReportPool;
    return pool;
  }
  // Return a slot of the current device.
  ReportSlot take() {
    const int device = current_device();
    ReportSlot slot;
    while (find(device, slot))
      if (!is_gone(slot.device, slot.epoch)) return slot;
    return made(device);
  }

 private:
  bool find(int device, ReportSlot& slot) {
    const std::lock_guard<std::mutex> hold(lock);
    for (std::size_t i = free.size(); i-- > 0;) {
      if (free[i].device != device) continue;
      slot = free[i];
      free.erase(free.begin() + std::ptrdiff_t(i));
      return true;
    }
    return false;
  }
  // Allocate several slots and return the first. Runs without the lock, because calls of the
  // runtime may let other threads run.
  ReportSlot made(int device) {
    constexpr Index count = 64, line = 64;  // slots; bytes of a cache line
    void* words = nullptr;
    Array shared = Array::empty(Layout({count, 3}, sizeof(Index)));
    shared.zero();
    check("cudaHostAlloc", waiting_in_relaxed_mode([&] {
            return cudaHostAlloc(&words, count * line, cudaHostAllocPortable | cudaHostAllocMapped);
          }));
    const auto slot_at = [&](Index i) {
      return ReportSlot{reinterpret_cast<Index*>(static_cast<char*>(words) + i * line),
                        static_cast<Index*>(shared.address()) + 3 * i, device,
                        device_epoch(device)};
    };
    const ReportSlot first = slot_at(0);
    const std::lock_guard<std::mutex> hold(lock);
    for (Index i = 1; i < count; ++i) free.push_back(slot_at(i));
    checks.push_back(std::move(shared));
    return first;
  }
};

struct ReportTraits {
  using Handle = ReportSlot;
  static constexpr const char* name = "a report slot";
  static cudaError_t release(ReportSlot slot) {
    ReportPool& pool = ReportPool::all();
    const std::lock_guard<std::mutex> hold(pool.lock);
    pool.free.push_back(slot);
    return cudaSuccess;
  }
};

// The report of one kernel.
// - Kind::always: the kernel always reports a number, as soon as the number is known, possibly
// before the kernel ends.
// - Kind::errors_only: the kernel reports a nonzero number if it finds an error, before it
// ends.
class Report {
 public:
  enum class Kind { always, errors_only };
  explicit Report(Kind kind) : slot_(take()), kind_(kind) {
    *word() = kind == Kind::always ? not_reported : 0;
  }
  // Throw where this thread captures: the host must wait for a report, which a capture does not
  // allow.
  static void require_waiting() {
    throw_if_capturing("a wait for a kernel's report (masks, checked indices)");
  }
  Index* word() const { return slot_.get().word; }
  void* checks() const { return slot_.get().checks; }
  // Wait for the report and return it; 0 if no error was found. Polling the word first is faster
  // than the runtime's wait.
  Index read(const StreamRef& stream) {
    cudaError_t error = cudaSuccess;
    {
      const NoGil without = release_gil();
      if (kind_ == Kind::errors_only || !is_reported())
        error = cudaStreamSynchronize(stream.handle);
    }
    if (error)
      (void)slot_.give_up();  // a failed kernel may have left the words in an undefined state
    check("cudaStreamSynchronize", error);
    if (!stream.handle) record_idle(current_device(), true);
    return *const_cast<const volatile Index*>(word());
  }

 private:
  static UniqueHandle<ReportTraits> take() {
    require_waiting();
    return UniqueHandle<ReportTraits>(ReportPool::all().take());
  }
  bool is_reported() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    while (*const_cast<const volatile Index*>(word()) == not_reported)
      if (std::chrono::steady_clock::now() > end) return false;
    return true;
  }

  // A kernel may report this value too; read() then returns it once the kernel is done.
  static constexpr Index not_reported = std::numeric_limits<Index>::min();
  UniqueHandle<ReportTraits> slot_;
  Kind kind_;
};

}  // namespace PyGPU::python
