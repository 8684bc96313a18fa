// Watcher of long transfers, which shows their progress or interrupts them.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "error.h"

namespace PyGPU {

// State of a long transfer for its watcher, which is called at intervals, between two pieces, in
// the thread of the transfer.
struct LongTransfer {
  std::size_t nbytes;
  bool up, shown;  // shown: the watcher is also called at the begin and end
  std::size_t moved = 0;
  enum { goes_on, done, failed } state = goes_on;
  std::shared_ptr<void> display{};  // owned by the watcher
};
// Set the watcher. If `watch` throws while a transfer goes on or is done, the transfer stops and
// rethrows the exception after all its threads have stopped. It must not throw for a failed
// transfer.
void watch_transfers(void (*watch)(LongTransfer& transfer));

class TransferWatch {
 public:
  TransferWatch(std::size_t nbytes, bool up, bool shown);

  // Return whether this thread is inside the watcher; its transfers are then neither shown nor
  // staged.
  static bool is_watching();

  // Run `work`, which calls `moved`, and show its begin and end.
  template <class Work>
  Status during(Work work) {
    Status status;
    try {
      begin();
      status = work();
      if (!status.failed()) end();
    } catch (...) {
      fail();
      throw;
    }
    if (status.failed()) fail();
    return status;
  }
  // Record how many bytes have been copied so far. Usually only reads the clock.
  void moved(std::size_t nbytes);

 private:
  void begin();
  void end();
  void fail();
  void call();

  LongTransfer transfer_;
  std::chrono::steady_clock::time_point called_at_;
};

}  // namespace PyGPU
