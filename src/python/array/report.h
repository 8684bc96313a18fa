// Words of page-locked memory by which a kernel reports to the host.
#pragma once

#include <chrono>
#include <limits>
#include <mutex>
#include <vector>

#include "PyGPU/array.h"
#include "PyGPU/graph.h"
#include "python/bindings.h"

namespace PyGPU::python {

// Where a kernel reports: a word of the host's memory, and what its blocks have in common, three
// words of the device's, which are 0 between launches (CHECKS in PyGPU/_kernels/text/gather.py) and
// which launches on the null stream may use, one after the other. A reset of the device takes all
// of it away.
struct ReportSlot {
  Index* word = nullptr;
  void* checks = nullptr;
  int device = 0;
  unsigned epoch = 0;
  bool operator==(const ReportSlot& other) const { return word == other.word; }
};

// Places that are free, in memory that stays.
struct ReportPool {
  std::mutex lock;
  std::vector<ReportSlot> free;
  std::vector<Array> checks;

  static ReportPool& all() {
    static auto& pool = *new ReportPool;
    return pool;
  }
  // One of the current device.
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
  // The first of some. Calls of the runtime may let other threads go on: without the lock.
  ReportSlot made(int device) {
    constexpr Index count = 64, line = 64;  // bytes of the processor's cache
    void* words = nullptr;
    Array shared = Array::empty(Layout({count, 3}, sizeof(Index)));
    shared.zero();
    check("cudaHostAlloc", waiting_beside_captures([&] {
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
  static constexpr const char* name = "a slot for reports";
  static cudaError_t release(ReportSlot slot) {
    ReportPool& pool = ReportPool::all();
    const std::lock_guard<std::mutex> hold(pool.lock);
    pool.free.push_back(slot);
    return cudaSuccess;
  }
};

// What one kernel reports. It always does, any number, as soon as it knows it (`always`), and need
// not be done by then; or where something is wrong, a number that is not 0, before its end.
class Report {
 public:
  enum class Kind { always, errors_only };
  explicit Report(Kind kind) : slot_(take()), kind_(kind) {
    *word() = kind == Kind::always ? not_reported : 0;
  }
  // A report is waited for, which a stream's capture does not allow.
  static void require_waiting() {
    refuse_waiting("a look at what a kernel reports (masks, indices that are checked)");
  }
  Index* word() const { return slot_.get().word; }
  void* checks() const { return slot_.get().checks; }
  // What was reported; 0 if nothing was wrong. It is looked for at first, which is quicker than the
  // runtime's own waiting.
  Index read(const StreamRef& stream) {
    cudaError_t error = cudaSuccess;
    {
      const NoGil without = release_gil();
      if (kind_ == Kind::errors_only || !is_reported())
        error = cudaStreamSynchronize(stream.handle);
    }
    if (error) (void)slot_.give_up();  // a kernel that failed may have left it half written
    check("cudaStreamSynchronize", error);
    if (!stream.handle) seen_idle(current_device(), true);
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

  // A kernel may report this too: it is seen once the kernel is done.
  static constexpr Index not_reported = std::numeric_limits<Index>::min();
  UniqueHandle<ReportTraits> slot_;
  Kind kind_;
};

}  // namespace PyGPU::python
