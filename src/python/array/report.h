// Words of page-locked memory by which a kernel reports to the host: what it has to say, and then
// that it is said.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include "PyGPU/graph.h"
#include "python/bindings.h"

namespace PyGPU::python {

// A reset of its device takes a word away.
struct ReportWord {
  Index* address = nullptr;
  int device = 0;
  unsigned epoch = 0;
  bool operator==(const ReportWord& other) const { return address == other.address; }
};

// Words that are free, of blocks that stay.
struct ReportWords {
  std::mutex lock;
  std::vector<ReportWord> free;

  static ReportWords& all() {
    static auto& words = *new ReportWords;
    return words;
  }
  ReportWord take() {
    const std::lock_guard<std::mutex> hold(lock);
    while (!free.empty()) {
      const ReportWord word = free.back();
      free.pop_back();
      if (!is_gone(word.device, word.epoch)) return word;
    }
    constexpr std::size_t count = 64;
    ReportWord word;
    word.device = current_device();
    word.epoch = device_epoch(word.device);
    void* block = nullptr;  // for the kernels of all devices
    check("cudaHostAlloc", cudaHostAlloc(&block, count * 2 * sizeof(Index),
                                         cudaHostAllocPortable | cudaHostAllocMapped));
    for (std::size_t i = 0; i < count; ++i) {
      word.address = static_cast<Index*>(block) + 2 * i;
      free.push_back(word);
    }
    free.pop_back();
    return word;
  }
};

struct ReportTraits {
  using Handle = ReportWord;
  static constexpr const char* name = "a word for reports";
  static cudaError_t release(ReportWord word) {
    ReportWords& words = ReportWords::all();
    const std::lock_guard<std::mutex> hold(words.lock);
    words.free.push_back(word);
    return cudaSuccess;
  }
};

class Report {
 public:
  Report() : word_(take()) { word()[0] = word()[1] = 0; }
  Index* word() const { return word_.get().address; }
  // What was reported, once the stream is done; 0 if nothing was. A kernel that says when it is
  // done is looked at for a while before, which is quicker than the runtime's own waiting.
  Index read(const StreamRef& stream, bool says_when_done) const {
    {
      const NoGil without = let_gil_go();
      if (!says_when_done || !is_said())
        check("cudaStreamSynchronize", cudaStreamSynchronize(stream.handle));
    }
    if (!stream.handle) seen_idle(current_device(), true);
    return *const_cast<const volatile Index*>(word());
  }

 private:
  static UniqueHandle<ReportTraits> take() {
    refuse_waiting("a look at what a kernel reports (masks, indices that are checked)");
    return UniqueHandle<ReportTraits>(ReportWords::all().take());
  }
  bool is_said() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    const auto* const said = const_cast<const volatile Index*>(word() + 1);
    while (!*said)
      if (std::chrono::steady_clock::now() > end) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
  }

  UniqueHandle<ReportTraits> word_;
};

}  // namespace PyGPU::python
