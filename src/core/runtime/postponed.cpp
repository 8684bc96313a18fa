// Releases that are postponed during a capture. See postponed.h.
#include "PyGPU/runtime/postponed.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "PyGPU/runtime/graph.h"

namespace PyGPU {
namespace {

struct Postponed {
  std::mutex lock;
  std::atomic<bool> some{false};
  std::vector<std::shared_ptr<void>> things;
};
Postponed& postponed() {
  static auto& all = *new Postponed;
  return all;
}

}  // namespace

bool would_invalidate_capture(int device) {
  if (Capture::current()) return true;
  bool answer = false;
  if (on_device(device, [&] {
        answer = is_captured(cudaStream_t());
        return cudaSuccess;
      }))
    (void)cudaGetLastError();
  return answer;
}

bool wait_would_invalidate_capture(int device) {
  return would_invalidate_capture(device) || Capture::is_any_active();
}

void postpone(std::shared_ptr<void> thing) {
  const std::lock_guard<std::mutex> hold(postponed().lock);
  postponed().things.push_back(std::move(thing));
  postponed().some = true;
}

void release_postponed() {
  if (!postponed().some) return;
  // Destroyed after the lock is released, because these releases may postpone others.
  std::vector<std::shared_ptr<void>> ready;
  {
    const std::lock_guard<std::mutex> hold(postponed().lock);
    ready.swap(postponed().things);
    postponed().some = false;
  }
}

}  // namespace PyGPU
