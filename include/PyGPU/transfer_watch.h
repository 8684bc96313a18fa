// Long transfers as somebody sees them who shows how far they are, or wants the thread back.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "error.h"

namespace PyGPU {

// A transfer that lasts, as its watcher sees it: now and then, between two pieces, in the thread
// that made the call.
struct LongTransfer {
  std::size_t nbytes;
  bool up, shown;  // shown: also when it begins and when it ends
  std::size_t moved = 0;
  enum { goes_on, done, failed } state = goes_on;
  std::shared_ptr<void> display{};  // the watcher's
};
// What `watch` throws while a transfer goes on, or is done, ends the transfer, which throws it once
// no thread of it works any more. It must not throw when one has failed.
void watch_transfers(void (*watch)(LongTransfer& transfer));

class TransferWatch {
 public:
  TransferWatch(std::size_t nbytes, bool up, bool shown);

  // Is this thread in the watcher? What it transfers there is not shown, and not staged.
  static bool is_watching();

  // Do the work, which calls `moved`, and show its begin and its end.
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
  // So many bytes have been moved so far. Seldom more than a look at the clock.
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
